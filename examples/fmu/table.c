/* A table on springs for model exchange (FMI 2.0): it says its derivatives, and the importer integrates.
   Variables: 0 displacement, 1 velocity, 2 and 3 their rates, 4 force, 5 mass, 6 stiffness, 7 damping. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef void *Handle;
typedef struct {
    double x[2], rates[2], force, mass, stiffness, damping;
} Table;
typedef struct {
    int needs_update, ends, nominals_changed, states_changed, has_next;
    double next;
} Events;

Handle fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const void *calls, int visible,
                       int logging) {
    if (type != 0 || strcmp(guid, "{table}") != 0) return NULL;
    Table *table = calloc(1, sizeof *table);
    table->mass = 0.5;
    table->stiffness = 8000;
    table->damping = 6;
    return table;
}
void fmi2FreeInstance(Handle h) { free(h); }
int fmi2SetupExperiment(Handle h, int a, double b, double t, int c, double d) { return 0; }
int fmi2EnterInitializationMode(Handle h) { return 0; }
int fmi2ExitInitializationMode(Handle h) { return 0; }
int fmi2Terminate(Handle h) { return 0; }

static double *place_of(Table *table, unsigned reference) {
    double *all[] = {&table->x[0],  &table->x[1], &table->rates[0],  &table->rates[1],
                     &table->force, &table->mass, &table->stiffness, &table->damping};
    return reference < 8 ? all[reference] : NULL;
}
static void find_rates(Table *table) {
    table->rates[0] = table->x[1];
    table->rates[1] = (table->force - table->stiffness * table->x[0] - table->damping * table->x[1]) / table->mass;
}
int fmi2SetReal(Handle h, const unsigned *references, size_t n, const double *values) {
    for (size_t i = 0; i < n; i++) {
        double *place = place_of(h, references[i]);
        if (!place) return 3;
        *place = values[i];
    }
    return 0;
}
int fmi2GetReal(Handle h, const unsigned *references, size_t n, double *values) {
    find_rates(h);
    for (size_t i = 0; i < n; i++) {
        double *place = place_of(h, references[i]);
        if (!place) return 3;
        values[i] = *place;
    }
    return 0;
}

int fmi2SetTime(Handle h, double t) { return 0; }
int fmi2SetContinuousStates(Handle h, const double *x, size_t n) {
    memcpy(((Table *)h)->x, x, 2 * sizeof *x);
    return 0;
}
int fmi2GetContinuousStates(Handle h, double *x, size_t n) {
    memcpy(x, ((Table *)h)->x, 2 * sizeof *x);
    return 0;
}
int fmi2GetNominalsOfContinuousStates(Handle h, double *sizes, size_t n) {
    sizes[0] = 1e-3;
    sizes[1] = 0.1;
    return 0;
}
int fmi2GetDerivatives(Handle h, double *rates, size_t n) {
    find_rates(h);
    memcpy(rates, ((Table *)h)->rates, 2 * sizeof *rates);
    return 0;
}
/* There are no events. */
int fmi2GetEventIndicators(Handle h, double *z, size_t n) { return 0; }
int fmi2EnterEventMode(Handle h) { return 0; }
int fmi2NewDiscreteStates(Handle h, Events *events) {
    memset(events, 0, sizeof *events);
    return 0;
}
int fmi2EnterContinuousTimeMode(Handle h) { return 0; }
int fmi2CompletedIntegratorStep(Handle h, int keeps, int *event, int *ends) {
    *event = *ends = 0;
    return 0;
}

int fmi2GetFMUstate(Handle h, Handle *state) {
    if (!*state) *state = malloc(sizeof(Table));
    memcpy(*state, h, sizeof(Table));
    return 0;
}
int fmi2SetFMUstate(Handle h, Handle state) {
    memcpy(h, state, sizeof(Table));
    return 0;
}
int fmi2FreeFMUstate(Handle h, Handle *state) {
    free(*state);
    *state = NULL;
    return 0;
}
int fmi2SerializedFMUstateSize(Handle h, Handle state, size_t *size) {
    *size = sizeof(Table);
    return 0;
}
int fmi2SerializeFMUstate(Handle h, Handle state, char *bytes, size_t size) {
    memcpy(bytes, state, size);
    return 0;
}
int fmi2DeSerializeFMUstate(Handle h, const char *bytes, size_t size, Handle *state) {
    *state = malloc(sizeof(Table));
    memcpy(*state, bytes, size);
    return 0;
}

/* What it has none of. */
int fmi2SetInteger(Handle h, const unsigned *r, size_t n, const int *v) { return 3; }
int fmi2GetInteger(Handle h, const unsigned *r, size_t n, int *v) { return 3; }
int fmi2SetBoolean(Handle h, const unsigned *r, size_t n, const int *v) { return 3; }
int fmi2GetBoolean(Handle h, const unsigned *r, size_t n, int *v) { return 3; }
int fmi2SetString(Handle h, const unsigned *r, size_t n, const char *const *v) { return 3; }
