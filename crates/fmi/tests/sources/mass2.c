/* A mass on a spring and a damper, FMI 2.0: semi-implicit Euler, one step a communication step.
   Variables: 0 force (N, input), 1 position (mm, output), 2 velocity (m/s, output), 3 mass, 4 damping, 5 stiffness,
   6 force on the ground (N, output, depends on the input at once), 7 longest step, 8 mood. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef void *Handle;
typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

typedef struct {
    double force, position, velocity, mass, damping, stiffness, longest;
    int mood;
} Values;

typedef struct {
    Values now;
    Callbacks calls;
    double unlike; /* what an instance of its own makes of its stiffness */
} Instance;

Handle fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const Callbacks *calls,
                       int visible, int logging) {
    if (type != 1 || strcmp(guid, "{mass}") != 0) return NULL;
    Instance *it = calls->allocate(1, sizeof(Instance));
    it->calls = *calls;
    it->now.mass = 1;
    it->now.longest = 1e9;
#ifdef MOODY
    static int count;
    it->unlike = 1 + 0.3 * (++count * 7 % 11);
#else
    it->unlike = 1;
#endif
    return it;
}
int fmi2SetupExperiment(Handle h, int a, double b, double c, int d, double e) { return 0; }
int fmi2EnterInitializationMode(Handle h) { return 0; }
int fmi2ExitInitializationMode(Handle h) { return 0; }
int fmi2Terminate(Handle h) { return 0; }
void fmi2FreeInstance(Handle h) {
    Instance *it = h;
    it->calls.release(it);
}
static double *place_of(Values *v, unsigned reference) {
    switch (reference) {
    case 0: return &v->force;
    case 1: return &v->position;
    case 2: return &v->velocity;
    case 3: return &v->mass;
    case 4: return &v->damping;
    case 5: return &v->stiffness;
    case 7: return &v->longest;
    default: return NULL;
    }
}
int fmi2SetReal(Handle h, const unsigned *references, size_t n, const double *values) {
    for (size_t i = 0; i < n; i++) *place_of(&((Instance *)h)->now, references[i]) = values[i];
    return 0;
}
int fmi2GetReal(Handle h, const unsigned *references, size_t n, double *values) {
    Values *v = &((Instance *)h)->now;
    for (size_t i = 0; i < n; i++) {
        if (references[i] == 6) values[i] = v->force + v->mood;
        else if (references[i] == 1) values[i] = v->position * 1000; /* mm */
        else values[i] = *place_of(v, references[i]);
    }
    return 0;
}
int fmi2SetInteger(Handle h, const unsigned *references, size_t n, const int *values) {
    for (size_t i = 0; i < n; i++) ((Instance *)h)->now.mood = values[i];
    return 0;
}
int fmi2GetInteger(Handle h, const unsigned *references, size_t n, int *values) {
    for (size_t i = 0; i < n; i++) values[i] = ((Instance *)h)->now.mood;
    return 0;
}
int fmi2SetBoolean(Handle h, const unsigned *references, size_t n, const int *values) { return 3; }
int fmi2GetBoolean(Handle h, const unsigned *references, size_t n, int *values) { return 3; }
int fmi2SetString(Handle h, const unsigned *references, size_t n, const char *const *values) { return 3; }
int fmi2GetBooleanStatus(Handle h, int kind, int *value) {
    *value = 0;
    return 0;
}
int fmi2DoStep(Handle h, double t, double step, int keeps) {
    Instance *it = h;
    Values *v = &it->now;
    if (v->mood == 2) {
        it->calls.logger(it->calls.environment, "mass", 3, "error", "the mass is in a bad mood");
        return 3;
    }
    if (step > v->longest) return 2;
    v->velocity += step * (v->force - v->damping * v->velocity - it->unlike * v->stiffness * v->position) / v->mass;
    v->position += step * v->velocity;
    return 0;
}
#ifndef NO_STATE
int fmi2GetFMUstate(Handle h, Handle *state) {
    if (!*state) *state = malloc(sizeof(Values));
    memcpy(*state, &((Instance *)h)->now, sizeof(Values));
    return 0;
}
int fmi2SetFMUstate(Handle h, Handle state) {
    Values *now = &((Instance *)h)->now;
#ifdef HALF_STATE
    double kept = now->velocity;
    *now = *(Values *)state;
    now->velocity = kept;
#else
    *now = *(Values *)state;
#endif
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
#endif
