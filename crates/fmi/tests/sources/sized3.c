/* y = 2 x for as many numbers as a structural parameter says, FMI 3. Variables: 1 x[n], 2 y[n], 3 n (UInt64). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef void *Handle;
typedef struct {
    uint64_t n;
    bool is_configured;
    double x[64];
} Sized;

Handle fmi3InstantiateCoSimulation(const char *name, const char *token, const char *place, bool visible, bool logging,
                                   bool events, bool early, const unsigned *between, size_t n, void *environment,
                                   void *log, void *update) {
    Sized *it = calloc(1, sizeof *it);
    it->n = 2;
    return it;
}
void fmi3FreeInstance(Handle h) { free(h); }
int fmi3EnterConfigurationMode(Handle h) {
    ((Sized *)h)->is_configured = true;
    return 0;
}
int fmi3ExitConfigurationMode(Handle h) {
    ((Sized *)h)->is_configured = false;
    return 0;
}
int fmi3EnterInitializationMode(Handle h, bool a, double b, double t, bool c, double d) { return 0; }
int fmi3ExitInitializationMode(Handle h) { return 0; }
int fmi3Terminate(Handle h) { return 0; }
int fmi3DoStep(Handle h, double t, double step, bool keeps, bool *event, bool *ends, bool *early, double *reached) {
    *event = *ends = *early = false;
    *reached = t + step;
    return 0;
}
/* Structural parameters may be set in their mode alone. */
int fmi3SetUInt64(Handle h, const unsigned *references, size_t n, const uint64_t *values, size_t count) {
    Sized *it = h;
    if (!it->is_configured || references[0] != 3) return 3;
    it->n = values[0];
    return 0;
}
int fmi3SetFloat64(Handle h, const unsigned *references, size_t n, const double *values, size_t count) {
    Sized *it = h;
    if (count != it->n || references[0] != 1) return 3;
    for (size_t i = 0; i < count; i++) it->x[i] = values[i];
    return 0;
}
int fmi3GetFloat64(Handle h, const unsigned *references, size_t n, double *values, size_t count) {
    Sized *it = h;
    if (count != it->n) return 3;
    for (size_t i = 0; i < count; i++) values[i] = 2 * it->x[i];
    return 0;
}
#define NONE(name) int name(Handle h, const unsigned *r, size_t n, void *v, size_t count) { return 3; }
NONE(fmi3GetInt32) NONE(fmi3SetInt32) NONE(fmi3GetBoolean) NONE(fmi3SetBoolean) NONE(fmi3SetString)
NONE(fmi3GetFloat32) NONE(fmi3SetFloat32) NONE(fmi3GetInt8) NONE(fmi3SetInt8) NONE(fmi3GetUInt8) NONE(fmi3SetUInt8)
NONE(fmi3GetInt16) NONE(fmi3SetInt16) NONE(fmi3GetUInt16) NONE(fmi3SetUInt16) NONE(fmi3GetUInt32) NONE(fmi3SetUInt32)
NONE(fmi3GetInt64) NONE(fmi3SetInt64) NONE(fmi3GetUInt64)
