/* Three masses in a row on springs and dampers, FMI 2.0, semi-implicit Euler: six states.
   By itself the last mass is pushed: 0 force (input), 1 position, 2 velocity (outputs). Compiled with -DGRIP its last mass hangs
   on a spring at a point that moves: 0 position, 1 velocity (inputs), 2 force (output) on what moves the point. With
   -DSUBSTEPS=n it takes n steps in each that it is asked for. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MASSES 3
#ifndef SUBSTEPS
#define SUBSTEPS 1
#endif
#ifdef GRIP
#define INPUTS 2
#else
#define INPUTS 1
#endif
typedef struct {
    double x[MASSES], v[MASSES], in[2], out[2];
} Values;
typedef struct {
    Values now;
    void (*release)(void *);
} Instance;
typedef struct {
    void *log, *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void *finished, *environment;
} Callbacks;
typedef void *Handle;

static const double mass = 1, stiffness = 400, damping = 0.4, grip = 900, slip = 0.9;

static void show(Values *s) {
#ifdef GRIP
    s->out[0] = grip * (s->x[MASSES - 1] - s->in[0]) + slip * (s->v[MASSES - 1] - s->in[1]);
#else
    s->out[0] = s->x[MASSES - 1];
    s->out[1] = s->v[MASSES - 1];
#endif
}
Handle fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const Callbacks *calls,
                       int visible, int logging) {
    Instance *it = calls->allocate(1, sizeof(Instance));
    it->release = calls->release;
    it->now.x[0] = 0.01;
    return it;
}
void fmi2FreeInstance(Handle h) { ((Instance *)h)->release(h); }
int fmi2SetupExperiment(Handle h, int a, double b, double c, int d, double e) { return 0; }
int fmi2EnterInitializationMode(Handle h) { return 0; }
int fmi2ExitInitializationMode(Handle h) { return 0; }
int fmi2Terminate(Handle h) { return 0; }
int fmi2SetReal(Handle h, const unsigned *references, size_t n, const double *values) {
    for (size_t i = 0; i < n; i++) ((Instance *)h)->now.in[references[i]] = values[i];
    return 0;
}
int fmi2GetReal(Handle h, const unsigned *references, size_t n, double *values) {
    Values *s = &((Instance *)h)->now;
    show(s);
    /* Some masters read inputs, too. */
    for (size_t i = 0; i < n; i++) values[i] = references[i] < INPUTS ? s->in[references[i]] : s->out[references[i] - INPUTS];
    return 0;
}
int fmi2SetInteger(Handle h, const unsigned *references, size_t n, const int *values) { return 3; }
int fmi2GetInteger(Handle h, const unsigned *references, size_t n, int *values) { return 3; }
int fmi2SetBoolean(Handle h, const unsigned *references, size_t n, const int *values) { return 3; }
int fmi2GetBoolean(Handle h, const unsigned *references, size_t n, int *values) { return 3; }
int fmi2SetString(Handle h, const unsigned *references, size_t n, const char *const *values) { return 3; }
int fmi2GetBooleanStatus(Handle h, int kind, int *value) { return 3; }
static void take(Values *s, double step) {
    double force[MASSES] = {0};
    for (int i = 0; i < MASSES; i++) {
        double x = i ? s->x[i - 1] : 0, v = i ? s->v[i - 1] : 0;
        double link = stiffness * (x - s->x[i]) + damping * (v - s->v[i]);
        force[i] += link;
        if (i) force[i - 1] -= link;
    }
#ifdef GRIP
    show(s);
    force[MASSES - 1] -= s->out[0];
#else
    force[MASSES - 1] += s->in[0];
#endif
    for (int i = 0; i < MASSES; i++) {
        s->v[i] += step * force[i] / mass;
        s->x[i] += step * s->v[i];
    }
}
int fmi2DoStep(Handle h, double t, double step, int keeps) {
    Values *s = &((Instance *)h)->now;
    for (int n = 0; n < SUBSTEPS; n++) take(s, step / SUBSTEPS);
    return 0;
}
int fmi2GetFMUstate(Handle h, Handle *state) {
    if (!*state) *state = malloc(sizeof(Values));
    memcpy(*state, &((Instance *)h)->now, sizeof(Values));
    return 0;
}
int fmi2SetFMUstate(Handle h, Handle state) {
    memcpy(&((Instance *)h)->now, state, sizeof(Values));
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
