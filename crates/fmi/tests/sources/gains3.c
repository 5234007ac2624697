/* Sums and gains, FMI 3.0: y = gain x for three numbers, and a counter of steps.
   Variables: 1 x[3] (input), 2 y[3] (output), 3 gain (parameter), 4 count (Int32, output), 5 on (Boolean, input). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void *Handle;
typedef struct {
    double x[3], gain;
    int32_t count;
    bool on;
} Values;

Handle fmi3InstantiateCoSimulation(const char *name, const char *token, const char *place, bool visible, bool logging,
                                   bool events, bool early, const unsigned *between, size_t n, void *environment,
                                   void *log, void *update) {
    if (strcmp(token, "{gains}") != 0) return NULL;
    Values *it = calloc(1, sizeof(Values));
    it->gain = 1;
    return it;
}
int fmi3EnterInitializationMode(Handle h, bool a, double b, double c, bool d, double e) { return 0; }
int fmi3ExitInitializationMode(Handle h) { return 0; }
int fmi3Terminate(Handle h) { return 0; }
void fmi3FreeInstance(Handle h) { free(h); }
int fmi3DoStep(Handle h, double t, double step, bool keeps, bool *event, bool *ends, bool *early, double *reached) {
    Values *v = h;
    v->count += v->on ? 1 : 0;
    *event = *ends = *early = false;
    *reached = t + step;
    return 0;
}
int fmi3SetFloat64(Handle h, const unsigned *references, size_t n, const double *values, size_t count) {
    Values *v = h;
    for (size_t i = 0, at = 0; i < n; i++) {
        if (references[i] == 1) {
            memcpy(v->x, values + at, sizeof v->x);
            at += 3;
        } else v->gain = values[at++];
    }
    return 0;
}
int fmi3GetFloat64(Handle h, const unsigned *references, size_t n, double *values, size_t count) {
    Values *v = h;
    if (n != 1 || references[0] != 2 || count != 3) return 3;
    for (int i = 0; i < 3; i++) values[i] = v->gain * v->x[i];
    return 0;
}
int fmi3GetInt32(Handle h, const unsigned *references, size_t n, int32_t *values, size_t count) {
    values[0] = ((Values *)h)->count;
    return 0;
}
int fmi3SetBoolean(Handle h, const unsigned *references, size_t n, const bool *values, size_t count) {
    ((Values *)h)->on = values[0];
    return 0;
}
#define NONE(name) int name(Handle h, const unsigned *r, size_t n, void *v, size_t count) { return 3; }
NONE(fmi3SetInt32) NONE(fmi3GetBoolean) NONE(fmi3SetString)
NONE(fmi3GetFloat32) NONE(fmi3SetFloat32) NONE(fmi3GetInt8) NONE(fmi3SetInt8) NONE(fmi3GetUInt8) NONE(fmi3SetUInt8)
NONE(fmi3GetInt16) NONE(fmi3SetInt16) NONE(fmi3GetUInt16) NONE(fmi3SetUInt16) NONE(fmi3GetUInt32) NONE(fmi3SetUInt32)
NONE(fmi3GetInt64) NONE(fmi3SetInt64) NONE(fmi3GetUInt64) NONE(fmi3SetUInt64)
