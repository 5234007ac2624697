/* A voice coil as an FMU (FMI 2.0, co-simulation): R i + L i' = u - k v, force = k i.
   Inputs are held within a communication step, in which the current is exact. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef void *Handle;
typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

enum { VOLTAGE, VELOCITY, FORCE, CURRENT, RESISTANCE, INDUCTANCE, CONSTANT, COUNT };
typedef struct {
    double of[COUNT];
} Values;

static const unsigned char version[] = "2.0";
const char *fmi2GetVersion(void) { return (const char *)version; }
const char *fmi2GetTypesPlatform(void) { return "default"; }

Handle fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const Callbacks *calls,
                       int visible, int logging) {
    if (type != 1 || strcmp(guid, "{voice-coil-1}") != 0) return NULL;
    Values *it = calloc(1, sizeof(Values));
    it->of[RESISTANCE] = 4;
    it->of[INDUCTANCE] = 2e-3;
    it->of[CONSTANT] = 12;
    return it;
}
void fmi2FreeInstance(Handle h) { free(h); }
int fmi2SetDebugLogging(Handle h, int on, size_t n, const char *const *categories) { return 0; }
int fmi2SetupExperiment(Handle h, int a, double b, double c, int d, double e) { return 0; }
int fmi2EnterInitializationMode(Handle h) { return 0; }
int fmi2ExitInitializationMode(Handle h) { return 0; }
int fmi2Terminate(Handle h) { return 0; }
int fmi2Reset(Handle h) { return 0; }

int fmi2SetReal(Handle h, const unsigned *references, size_t n, const double *values) {
    for (size_t i = 0; i < n; i++) ((Values *)h)->of[references[i]] = values[i];
    return 0;
}
int fmi2GetReal(Handle h, const unsigned *references, size_t n, double *values) {
    Values *v = h;
    for (size_t i = 0; i < n; i++)
        values[i] = references[i] == FORCE ? v->of[CONSTANT] * v->of[CURRENT] : v->of[references[i]];
    return 0;
}
#define NONE(name, type) int name(Handle h, const unsigned *r, size_t n, type v) { return n ? 3 : 0; }
NONE(fmi2SetInteger, const int *) NONE(fmi2GetInteger, int *)
NONE(fmi2SetBoolean, const int *) NONE(fmi2GetBoolean, int *)
NONE(fmi2SetString, const char *const *) NONE(fmi2GetString, const char **)
int fmi2GetBooleanStatus(Handle h, int kind, int *value) {
    *value = 0;
    return 0;
}
/* What the standard asks for and nobody may call: the description does not promise it. */
int fmi2GetStatus(Handle h, int kind, int *value) { return 2; }
int fmi2GetRealStatus(Handle h, int kind, double *value) { return 2; }
int fmi2GetIntegerStatus(Handle h, int kind, int *value) { return 2; }
int fmi2GetStringStatus(Handle h, int kind, const char **value) { return 2; }
int fmi2CancelStep(Handle h) { return 3; }
int fmi2SetRealInputDerivatives(Handle h, const unsigned *r, size_t n, const int *order, const double *v) { return 3; }
int fmi2GetRealOutputDerivatives(Handle h, const unsigned *r, size_t n, const int *order, double *v) { return 3; }
int fmi2GetDirectionalDerivative(Handle h, const unsigned *u, size_t n, const unsigned *k, size_t m, const double *dk,
                                 double *du) {
    return 3;
}

int fmi2DoStep(Handle h, double t, double step, int keeps) {
    double *v = ((Values *)h)->of;
    double end = (v[VOLTAGE] - v[CONSTANT] * v[VELOCITY]) / v[RESISTANCE];
    v[CURRENT] = end + (v[CURRENT] - end) * exp(-step * v[RESISTANCE] / v[INDUCTANCE]);
    return 0;
}

int fmi2GetFMUstate(Handle h, Handle *state) {
    if (!*state) *state = malloc(sizeof(Values));
    memcpy(*state, h, sizeof(Values));
    return 0;
}
int fmi2SetFMUstate(Handle h, Handle state) {
    memcpy(h, state, sizeof(Values));
    return 0;
}
int fmi2FreeFMUstate(Handle h, Handle *state) {
    free(*state);
    *state = NULL;
    return 0;
}
int fmi2SerializedFMUstateSize(Handle h, Handle state, size_t *size) {
    *size = sizeof(Values);
    return 0;
}
int fmi2SerializeFMUstate(Handle h, Handle state, unsigned char *bytes, size_t size) {
    memcpy(bytes, state, size);
    return 0;
}
int fmi2DeSerializeFMUstate(Handle h, const unsigned char *bytes, size_t size, Handle *state) {
    *state = malloc(size);
    memcpy(*state, bytes, size);
    return 0;
}
