/* The calls of a macro step of two FMUs with three signals, and nothing else: bare CHAIN.so GRIP.so STEPS prints the CPU
   time of one in microseconds. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void *Handle;
typedef struct {
    void *log, *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void *finished, *environment;
} Callbacks;
typedef struct {
    Handle it;
    int (*set)(Handle, const unsigned *, size_t, const double *);
    int (*get)(Handle, const unsigned *, size_t, double *);
    int (*step)(Handle, double, double, int);
} Fmu;

static Fmu load(const char *path) {
    static const Callbacks calls = {0, calloc, free, 0, 0};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    Handle (*make)(const char *, int, const char *, const char *, const Callbacks *, int, int) =
        dlsym(library, "fmi2Instantiate");
    Fmu fmu = {make("bare", 1, "", "", &calls, 0, 0), dlsym(library, "fmi2SetReal"), dlsym(library, "fmi2GetReal"),
               dlsym(library, "fmi2DoStep")};
    return fmu;
}

int main(int count, char **words) {
    Fmu chain = load(words[1]), grip = load(words[2]);
    long steps = atol(words[3]);
    const unsigned zero = 0, two = 2, first[] = {0, 1}, last[] = {1, 2};
    double motion[2] = {0}, force = 0, h = 1e-3;
    clock_t start = clock();
    for (long n = 0; n < steps; n++) {
        chain.set(chain.it, &zero, 1, &force);
        grip.set(grip.it, first, 2, motion);
        chain.step(chain.it, n * h, h, 1);
        grip.step(grip.it, n * h, h, 1);
        chain.get(chain.it, last, 2, motion);
        grip.get(grip.it, &two, 1, &force);
    }
    printf("%.6f\n", 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / steps);
    return motion[0] != motion[0];
}
