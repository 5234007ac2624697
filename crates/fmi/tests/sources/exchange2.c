/* FMI 2 around a model of exchange.h: for model exchange, and for co-simulation where it is the integral of u.
   Variables: 0, 1 states, 2, 3 their derivatives, 4 u, 5 the count. */
#include "exchange.h"

typedef void *Handle;
typedef struct {
    int again, ends, nominals, values, has_next;
    double next;
} EventInfo;

Handle fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const void *calls, int visible,
                       int logging) {
    Model *m = malloc(sizeof *m);
    model_start(m);
    return m;
}
void fmi2FreeInstance(Handle h) { free(h); }
int fmi2SetupExperiment(Handle h, int a, double b, double t, int c, double d) {
    ((Model *)h)->t = t;
    return 0;
}
int fmi2EnterInitializationMode(Handle h) { return 0; }
int fmi2ExitInitializationMode(Handle h) { return 0; }
int fmi2Terminate(Handle h) { return 0; }
int fmi2EnterEventMode(Handle h) { return 0; }
int fmi2EnterContinuousTimeMode(Handle h) { return 0; }
int fmi2NewDiscreteStates(Handle h, EventInfo *info) {
    Model *m = h;
    memset(info, 0, sizeof *info);
    info->values = model_event(m);
    info->has_next = m->has_next;
    info->next = m->next;
    return 0;
}
int fmi2CompletedIntegratorStep(Handle h, int keeps, int *event, int *ends) { return *event = *ends = 0; }
int fmi2SetTime(Handle h, double t) {
    ((Model *)h)->t = t;
    return 0;
}
int fmi2SetContinuousStates(Handle h, const double *x, size_t n) {
    if (n != STATES) return 3;
    memcpy(((Model *)h)->x, x, n * sizeof *x);
    return 0;
}
int fmi2GetContinuousStates(Handle h, double *x, size_t n) {
    if (n != STATES) return 3;
    memcpy(x, ((Model *)h)->x, n * sizeof *x);
    return 0;
}
int fmi2GetNominalsOfContinuousStates(Handle h, double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = 1;
    return 0;
}
int fmi2GetDerivatives(Handle h, double *rates, size_t n) {
    model_rates(h, rates);
    return 0;
}
int fmi2GetEventIndicators(Handle h, double *z, size_t n) {
    if (n != INDICATORS) return 3;
    model_indicators(h, z);
    return 0;
}
int fmi2SetReal(Handle h, const unsigned *references, size_t n, const double *values) {
    Model *m = h;
    for (size_t i = 0; i < n; i++) {
        if (references[i] == 4) m->u = values[i];
        else if (references[i] < 2) m->x[references[i]] = values[i];
        else return 3;
    }
    return 0;
}
int fmi2GetReal(Handle h, const unsigned *references, size_t n, double *values) {
    Model *m = h;
    double rates[2] = {0};
    model_rates(m, rates);
    for (size_t i = 0; i < n; i++) {
        unsigned r = references[i];
        values[i] = r < 2 ? m->x[r] : r < 4 ? rates[r - 2] : m->u;
    }
    return 0;
}
int fmi2GetInteger(Handle h, const unsigned *references, size_t n, int *values) {
    for (size_t i = 0; i < n; i++) values[i] = ((Model *)h)->count;
    return 0;
}
int fmi2SetInteger(Handle h, const unsigned *r, size_t n, const int *v) { return 3; }
int fmi2GetBoolean(Handle h, const unsigned *r, size_t n, int *v) { return 3; }
int fmi2SetBoolean(Handle h, const unsigned *r, size_t n, const int *v) { return 3; }
int fmi2SetString(Handle h, const unsigned *r, size_t n, const char *const *v) { return 3; }

/* Steps: u goes on with its rate. */
int fmi2SetRealInputDerivatives(Handle h, const unsigned *references, size_t n, const int *orders, const double *rates) {
    if (n != 1 || references[0] != 4 || orders[0] != 1) return 3;
    ((Model *)h)->rate = rates[0];
    return 0;
}
int fmi2DoStep(Handle h, double t, double step, int keeps) {
    Model *m = h;
    m->x[0] += m->u * step + 0.5 * m->rate * step * step;
    m->rate = 0;
    return 0;
}
int fmi2GetBooleanStatus(Handle h, int kind, int *value) { return 3; }

int fmi2GetFMUstate(Handle h, Handle *state) {
    if (!*state) *state = malloc(sizeof(Model));
    memcpy(*state, h, sizeof(Model));
    return 0;
}
int fmi2SetFMUstate(Handle h, Handle state) {
    memcpy(h, state, sizeof(Model));
    return 0;
}
int fmi2FreeFMUstate(Handle h, Handle *state) {
    free(*state);
    *state = NULL;
    return 0;
}
int fmi2SerializedFMUstateSize(Handle h, Handle state, size_t *size) {
    *size = sizeof(Model);
    return 0;
}
int fmi2SerializeFMUstate(Handle h, Handle state, char *bytes, size_t size) {
    memcpy(bytes, state, size);
    return 0;
}
int fmi2DeSerializeFMUstate(Handle h, const char *bytes, size_t size, Handle *state) {
    *state = malloc(sizeof(Model));
    memcpy(*state, bytes, size);
    return 0;
}
