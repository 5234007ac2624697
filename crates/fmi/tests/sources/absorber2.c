/* A mass on a stiff link to a point that moves, FMI 2.0, semi-implicit Euler, one step a communication step.
   Variables: 0 s, 1 v (inputs, motion of the point), 2 F (output, force on the point, at once), 3 mass, 4 stiffness, 5 damping,
   6 x0, 7 w0: where the mass starts and how fast. Compiled with -DGIVES_MOTION it is a mass that is pushed: 0 F (input), 1 s, 2 v
   (outputs). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef void *Handle;
typedef struct {
    void *log, *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void *finished, *environment;
} Callbacks;
typedef struct {
    double values[8];
    double x, w;
} Values;
typedef struct {
    Values now;
    void (*release)(void *);
} Instance;

Handle fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const Callbacks *calls,
                       int visible, int logging) {
    Instance *it = calls->allocate(1, sizeof(Instance));
    it->release = calls->release;
    it->now.values[3] = 1;
    return it;
}
void fmi2FreeInstance(Handle h) { ((Instance *)h)->release(h); }
int fmi2SetupExperiment(Handle h, int a, double b, double c, int d, double e) { return 0; }
int fmi2EnterInitializationMode(Handle h) {
    Values *s = &((Instance *)h)->now;
    s->x = s->values[6];
    s->w = s->values[7];
    return 0;
}
int fmi2ExitInitializationMode(Handle h) { return 0; }
int fmi2Terminate(Handle h) { return 0; }
static double force(const Values *s) {
    return s->values[4] * (s->x - s->values[0]) + s->values[5] * (s->w - s->values[1]);
}
int fmi2SetReal(Handle h, const unsigned *references, size_t n, const double *values) {
    for (size_t i = 0; i < n; i++) ((Instance *)h)->now.values[references[i]] = values[i];
    return 0;
}
int fmi2GetReal(Handle h, const unsigned *references, size_t n, double *values) {
    Values *s = &((Instance *)h)->now;
    for (size_t i = 0; i < n; i++) {
#ifdef GIVES_MOTION
        values[i] = references[i] == 1 ? s->x : s->w;
#else
        values[i] = force(s);
#endif
    }
    return 0;
}
int fmi2SetInteger(Handle h, const unsigned *references, size_t n, const int *values) { return 3; }
int fmi2GetInteger(Handle h, const unsigned *references, size_t n, int *values) { return 3; }
int fmi2SetBoolean(Handle h, const unsigned *references, size_t n, const int *values) { return 3; }
int fmi2GetBoolean(Handle h, const unsigned *references, size_t n, int *values) { return 3; }
int fmi2SetString(Handle h, const unsigned *references, size_t n, const char *const *values) { return 3; }
int fmi2GetBooleanStatus(Handle h, int kind, int *value) { return 3; }
int fmi2DoStep(Handle h, double t, double step, int keeps) {
    Values *s = &((Instance *)h)->now;
#ifdef GIVES_MOTION
    s->w += step * (s->values[0] - s->values[4] * s->x - s->values[5] * s->w) / s->values[3];
#else
    s->w += step * -force(s) / s->values[3];
#endif
    s->x += step * s->w;
    return 0;
}
