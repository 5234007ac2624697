/* The functions of FMI 2 that other importers look up and that mass2.c does not need. */
#include "mass2.c"

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
#define NONE(name) int name(Handle h) { return 0; }
NONE(fmi2CancelStep) NONE(fmi2GetStatus) NONE(fmi2GetRealStatus) NONE(fmi2GetIntegerStatus) NONE(fmi2GetStringStatus)
NONE(fmi2SetRealInputDerivatives) NONE(fmi2GetRealOutputDerivatives) NONE(fmi2SetDebugLogging) NONE(fmi2Reset)
NONE(fmi2GetString) NONE(fmi2GetDirectionalDerivative)
