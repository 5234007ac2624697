/* The weight of absorber2.c on a node in space, along one of its axes: FMI 2.0, semi-implicit Euler.
   Variables: 0 to 2 position, 3 to 5 rotation vector, 6 to 8 velocity, 9 to 11 angular velocity (inputs), 12 to 14 force,
   15 to 17 moment (outputs, at once), 18 mass, 19 stiffness, 20 damping, 21 x0, 22 w0, 23 axis (1, 2 or 3). */
#include <stddef.h>
#include <stdlib.h>

typedef void *Handle;
typedef struct {
    void *log, *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void *finished, *environment;
} Callbacks;
typedef struct {
    double values[24], x, w;
    void (*release)(void *);
} Instance;

Handle fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const Callbacks *calls,
                       int visible, int logging) {
    Instance *it = calls->allocate(1, sizeof(Instance));
    it->release = calls->release;
    return it;
}
void fmi2FreeInstance(Handle h) { ((Instance *)h)->release(h); }
int fmi2SetupExperiment(Handle h, int a, double b, double c, int d, double e) { return 0; }
int fmi2EnterInitializationMode(Handle h) {
    Instance *s = h;
    s->x = s->values[21];
    s->w = s->values[22];
    return 0;
}
int fmi2ExitInitializationMode(Handle h) { return 0; }
int fmi2Terminate(Handle h) { return 0; }
static double force(const Instance *s) {
    int axis = (int)s->values[23] - 1;
    return s->values[19] * (s->x - s->values[axis]) + s->values[20] * (s->w - s->values[6 + axis]);
}
int fmi2SetReal(Handle h, const unsigned *references, size_t n, const double *values) {
    for (size_t i = 0; i < n; i++) ((Instance *)h)->values[references[i]] = values[i];
    return 0;
}
int fmi2GetReal(Handle h, const unsigned *references, size_t n, double *values) {
    Instance *s = h;
    for (size_t i = 0; i < n; i++) values[i] = references[i] == 11 + (unsigned)s->values[23] ? force(s) : 0;
    return 0;
}
int fmi2SetInteger(Handle h, const unsigned *references, size_t n, const int *values) { return 3; }
int fmi2GetInteger(Handle h, const unsigned *references, size_t n, int *values) { return 3; }
int fmi2SetBoolean(Handle h, const unsigned *references, size_t n, const int *values) { return 3; }
int fmi2GetBoolean(Handle h, const unsigned *references, size_t n, int *values) { return 3; }
int fmi2SetString(Handle h, const unsigned *references, size_t n, const char *const *values) { return 3; }
int fmi2GetBooleanStatus(Handle h, int kind, int *value) { return 3; }
int fmi2DoStep(Handle h, double t, double step, int keeps) {
    Instance *s = h;
    s->w += step * -force(s) / s->values[18];
    s->x += step * s->w;
    return 0;
}
