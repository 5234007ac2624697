/* The calls of a communication step of an exported FMU, by FMI 3: exported LIBRARY RESOURCES TOKEN STEP COUNT INPUT
   OUTPUT... prints the CPU time of one in microseconds. Inputs and outputs are value references. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 8 };
typedef void *Handle;
typedef int Step(Handle, double, double, bool, bool *, bool *, bool *, double *);

int main(int count, char **words) {
    void *library = count > 7 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : 0;
    if (!library) return 2;
    Handle (*make)(const char *, const char *, const char *, bool, bool, bool, bool, const unsigned *, size_t, void *,
                   void *, void *) = dlsym(library, "fmi3InstantiateCoSimulation");
    int (*begin)(Handle, bool, double, double, bool, double) = dlsym(library, "fmi3EnterInitializationMode");
    int (*begun)(Handle) = dlsym(library, "fmi3ExitInitializationMode");
    int (*set)(Handle, const unsigned *, size_t, const double *, size_t) = dlsym(library, "fmi3SetFloat64");
    int (*get)(Handle, const unsigned *, size_t, double *, size_t) = dlsym(library, "fmi3GetFloat64");
    Step *step = dlsym(library, "fmi3DoStep");
    double h = atof(words[4]), values[MOST] = {0}, push = 0, reached;
    long steps = atol(words[5]);
    unsigned input = atoi(words[6]), outputs[MOST], width = 0;
    for (int n = 7; n < count && width < MOST; n++) outputs[width++] = atoi(words[n]);
    Handle it = make("it", words[3], words[2], false, false, false, false, 0, 0, 0, 0, 0);
    bool event, end, early;
    if (!it || begin(it, false, 0, 0, false, 0) || begun(it)) return 3;
    int failed = 0;
    clock_t start = clock();
    for (long n = 0; n < steps; n++) {
        push = -values[0];
        failed |= set(it, &input, 1, &push, 1);
        failed |= step(it, n * h, h, true, &event, &end, &early, &reached);
        failed |= get(it, outputs, width, values, width);
    }
    printf("%.6f\n", 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / steps);
    return failed;
}
