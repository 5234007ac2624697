/* The mass of mass2.c with a fault, from 0.25 s on or at once: -DFAULT=1 writes to nowhere in a step, 2 aborts, 3 calls exit,
   4 never returns from a step, 5 never returns from its outputs, 6 crashes when it is made, 7 answers NaN, 8 crashes when
   it is given up, 9 answers differently each time, 10 may be made once in a process. */
#include <stdio.h>
#include <stdlib.h>
#define fmi2DoStep plain_step
#define fmi2GetReal plain_get
#define fmi2Instantiate plain_instantiate
#define fmi2FreeInstance plain_free
#include "mass2.c"
#undef fmi2DoStep
#undef fmi2GetReal
#undef fmi2Instantiate
#undef fmi2FreeInstance

static double now;
static int *volatile nowhere;

Handle fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const Callbacks *calls,
                       int visible, int logging) {
    if (FAULT == 6) *nowhere = 1;
    static int made;
    if (FAULT == 10 && made++) return NULL;
    return plain_instantiate(name, type, guid, place, calls, visible, logging);
}
void fmi2FreeInstance(Handle h) {
    if (FAULT == 8) *nowhere = 1;
    plain_free(h);
}
int fmi2DoStep(Handle h, double t, double step, int keeps) {
    Instance *it = h;
    now = t;
    if (t > 0.2499) {
        if (FAULT == 1) {
            it->calls.logger(it->calls.environment, "mass", 0, "info", "about to write to nowhere");
            *nowhere = 1;
        }
        if (FAULT == 2) {
            fprintf(stderr, "mass: assertion failed\n");
            abort();
        }
        if (FAULT == 3) exit(0);
        if (FAULT == 4) for (volatile int on = 1; on;);
    }
    return plain_step(h, t, step, keeps);
}
int fmi2GetReal(Handle h, const unsigned *references, size_t n, double *values) {
    if (FAULT == 5 && now > 0.2499) for (volatile int on = 1; on;);
    int status = plain_get(h, references, n, values);
    if (FAULT == 7 && now > 0.2499) values[0] = strtod("nan", NULL);
    if (FAULT == 9) for (size_t i = 0; i < n; i++) values[i] *= 1 + 1e-3 * rand() / RAND_MAX;
    return status;
}
