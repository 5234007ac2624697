/* Models that are integrated from outside, by MODEL: 1 Van der Pol's oscillator, 2 a bouncing ball, 3 a stair that rises every
   second, 4 an oscillator that is driven by u, 5 the integral of u, 6 a relay: x' = 1 until x > u, then x' = -1. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double t, x[2], u, rate;
    int count, direction;
    bool has_next;
    double next;
} Model;

#if MODEL == 3
#define STATES 0
#elif MODEL == 5 || MODEL == 6
#define STATES 1
#else
#define STATES 2
#endif
#if MODEL == 2 || MODEL == 6
#define INDICATORS 1
#else
#define INDICATORS 0
#endif

static void model_start(Model *m) {
    memset(m, 0, sizeof *m);
    m->direction = 1;
    if (MODEL == 1) m->x[0] = 2;
    if (MODEL == 2) m->x[0] = 1;
}
static void model_rates(const Model *m, double *rates) {
    const double *x = m->x;
    if (MODEL == 1) {
        rates[0] = x[1];
        rates[1] = (1 - x[0] * x[0]) * x[1] - x[0];
    } else if (MODEL == 2) {
        rates[0] = x[1];
        rates[1] = -9.81;
    } else if (MODEL == 4) {
        rates[0] = x[1];
        rates[1] = m->u - 4 * x[0];
    } else if (MODEL == 5) {
        rates[0] = m->u;
    } else if (MODEL == 6) {
        rates[0] = m->direction;
    }
}
static void model_indicators(const Model *m, double *z) {
    if (MODEL == 2) z[0] = m->x[0];
    if (MODEL == 6) z[0] = m->x[0] - m->u;
}
/* Whether continuous states have jumped. */
static bool model_event(Model *m) {
    if (MODEL == 2 && m->x[0] <= 0 && m->x[1] < 0) {
        m->x[0] = 0;
        m->x[1] *= -0.7;
        m->count++;
        return true;
    }
    if (MODEL == 3) {
        while (m->count + 1 <= m->t + 1e-9) m->count++;
        m->has_next = true;
        m->next = m->count + 1;
    }
    if (MODEL == 6) {
        if (m->x[0] > m->u && m->direction == 1) m->count++;
        if (m->x[0] > m->u) m->direction = -1;
    }
    return false;
}
