/* FMI 3 around a model of exchange.h: for model exchange, and for co-simulation with event mode where it is the stair.
   Variables: 0, 1 states, 2, 3 their derivatives, 4 u, 5 the count. */
#include "exchange.h"

typedef void *Handle;

static Handle made(void) {
    Model *m = malloc(sizeof *m);
    model_start(m);
    return m;
}
Handle fmi3InstantiateModelExchange(const char *name, const char *token, const char *place, bool visible, bool logging,
                                    void *environment, void *log) {
    return made();
}
/* Who does not handle events gets none: it counts nothing then. */
Handle fmi3InstantiateCoSimulation(const char *name, const char *token, const char *place, bool visible, bool logging,
                                   bool events, bool early, const unsigned *between, size_t n, void *environment,
                                   void *log, void *update) {
    return events && early ? made() : NULL;
}
void fmi3FreeInstance(Handle h) { free(h); }
int fmi3EnterInitializationMode(Handle h, bool a, double b, double t, bool c, double d) {
    ((Model *)h)->t = t;
    return 0;
}
int fmi3ExitInitializationMode(Handle h) { return 0; }
int fmi3Terminate(Handle h) { return 0; }
int fmi3EnterEventMode(Handle h) { return 0; }
int fmi3EnterContinuousTimeMode(Handle h) { return 0; }
int fmi3EnterStepMode(Handle h) { return 0; }
int fmi3UpdateDiscreteStates(Handle h, bool *again, bool *ends, bool *nominals, bool *values, bool *has_next,
                             double *next) {
    Model *m = h;
    *again = *ends = *nominals = false;
    *values = model_event(m);
    /* In steps it stops at its events by itself. */
    *has_next = m->has_next && !IN_STEPS;
    *next = m->next;
    return 0;
}
int fmi3CompletedIntegratorStep(Handle h, bool keeps, bool *event, bool *ends) { return *event = *ends = false; }
int fmi3SetTime(Handle h, double t) {
    ((Model *)h)->t = t;
    return 0;
}
int fmi3SetContinuousStates(Handle h, const double *x, size_t n) {
    if (n != STATES) return 3;
    memcpy(((Model *)h)->x, x, n * sizeof *x);
    return 0;
}
int fmi3GetContinuousStates(Handle h, double *x, size_t n) {
    if (n != STATES) return 3;
    memcpy(x, ((Model *)h)->x, n * sizeof *x);
    return 0;
}
int fmi3GetNominalsOfContinuousStates(Handle h, double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = 1;
    return 0;
}
int fmi3GetContinuousStateDerivatives(Handle h, double *rates, size_t n) {
    model_rates(h, rates);
    return 0;
}
int fmi3GetNumberOfEventIndicators(Handle h, size_t *n) {
    *n = INDICATORS;
    return 0;
}
int fmi3GetEventIndicators(Handle h, double *z, size_t n) {
    if (n != INDICATORS) return 3;
    model_indicators(h, z);
    return 0;
}
int fmi3DoStep(Handle h, double t, double step, bool keeps, bool *event, bool *ends, bool *early, double *reached) {
    Model *m = h;
    *event = *ends = *early = false;
    m->t = t + step;
    if (m->has_next && m->t >= m->next - 1e-9) {
        *event = *early = true;
        m->t = m->next;
    }
    *reached = m->t;
    return 0;
}
int fmi3SetFloat64(Handle h, const unsigned *references, size_t n, const double *values, size_t count) {
    for (size_t i = 0; i < n; i++) {
        if (references[i] != 4) return 3;
        ((Model *)h)->u = values[i];
    }
    return 0;
}
int fmi3GetFloat64(Handle h, const unsigned *references, size_t n, double *values, size_t count) {
    Model *m = h;
    double rates[2] = {0};
    model_rates(m, rates);
    for (size_t i = 0; i < n; i++) {
        unsigned r = references[i];
        values[i] = r < 2 ? m->x[r] : r < 4 ? rates[r - 2] : m->u;
    }
    return 0;
}
int fmi3GetInt32(Handle h, const unsigned *references, size_t n, int32_t *values, size_t count) {
    values[0] = ((Model *)h)->count;
    return 0;
}
#define NONE(name) int name(Handle h, const unsigned *r, size_t n, void *v, size_t count) { return 3; }
NONE(fmi3SetInt32) NONE(fmi3GetBoolean) NONE(fmi3SetBoolean) NONE(fmi3SetString)
NONE(fmi3GetFloat32) NONE(fmi3SetFloat32) NONE(fmi3GetInt8) NONE(fmi3SetInt8) NONE(fmi3GetUInt8) NONE(fmi3SetUInt8)
NONE(fmi3GetInt16) NONE(fmi3SetInt16) NONE(fmi3GetUInt16) NONE(fmi3SetUInt16) NONE(fmi3GetUInt32) NONE(fmi3SetUInt32)
NONE(fmi3GetInt64) NONE(fmi3SetInt64) NONE(fmi3GetUInt64) NONE(fmi3SetUInt64)
