/* A program in C as a part of an Oldham model over shared memory ([process.NAME] with address = "shm"). As oldham_peer.h: write
   the two functions and call oldham_serve(outputs). Linux; one file, no library. */
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <signal.h>
#include <unistd.h>

void part_start(double t, const double *inputs, double *outputs);
void part_step(double t, double end, const double *before, const double *after, double *outputs);

/* Words of 32 bits stand 128 bytes apart: how often Oldham has rung and whether it sleeps, and the same of this program. The cells
   begin at byte 1024: the number of bytes, seven that are free, and the frame. */
static int oldham_serve(size_t outputs) {
    enum { HELLO = 1, START, STEP, OUTPUTS, KEEP, RETURN, BYE, VALUES = 16, ERROR = 18 };
    struct stat file;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fstat(0, &file)) return perror("the standard input"), 1;
    char *memory = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0);
    if (memory == MAP_FAILED) return perror("the standard input is no shared memory"), 1;
    _Atomic uint32_t *rung = (void *)memory, *host_sleeps = (void *)(memory + 128);
    _Atomic uint32_t *bell = (void *)(memory + 256), *sleeps = (void *)(memory + 384);
    uint64_t *length = (void *)(memory + 1024);
    uint32_t *head = (void *)(memory + 1088), heard = 0;
    double *numbers = (void *)(memory + 1096), *values = calloc(outputs + 1, sizeof(double));
    int spins = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2000 : 0;
    for (;;) {
        for (int k = 0; k < spins && atomic_load(rung) == heard; k++) __builtin_ia32_pause();
        while (atomic_load(rung) == heard) {
            atomic_store(sleeps, 1);
            if (atomic_load(rung) == heard) syscall(SYS_futex, rung, FUTEX_WAIT, heard, NULL, NULL, 0);
            atomic_store(sleeps, 0);
        }
        heard++;
        size_t width = head[1] / sizeof(double);
        const char hello[] = "{\"oldham\": 1}", sorry[] = "it cannot do that";
        const void *answer = values;
        uint32_t kind = VALUES, count = (uint32_t)(outputs * sizeof(double));
        if (head[0] == BYE) return 0;
        if (head[0] == START) part_start(numbers[0], numbers + 1, values);
        else if (head[0] == STEP) part_step(numbers[0], numbers[1], numbers + 2, numbers + 2 + (width - 2) / 2, values);
        else if (head[0] == HELLO) kind = HELLO, answer = hello, count = sizeof hello - 1;
        else kind = ERROR, answer = sorry, count = sizeof sorry - 1;
        head[0] = kind;
        head[1] = count;
        memcpy(numbers, answer, count);
        *length = 8 + count;
        atomic_fetch_add(bell, 1);
        if (atomic_load(host_sleeps)) syscall(SYS_futex, bell, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}
