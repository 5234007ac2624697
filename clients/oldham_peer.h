/* A program in C as a part of an Oldham model ([process.NAME], framed protocol). Write the two functions and call
   oldham_serve(outputs). It returns 0 when Oldham says goodbye, or 1 with a message. Linux; one file, no library. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The outputs at the start for these inputs, and at the end of a step whose inputs are known at its start and expected at its
   end. */
void part_start(double t, const double *inputs, double *outputs);
void part_step(double t, double end, const double *before, const double *after, double *outputs);

static int oldham_read(int stream, void *data, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t more = read(stream, (char *)data + done, count - done);
        if (more <= 0) return 1;
        done += (size_t)more;
    }
    return 0;
}
static int oldham_send(int stream, uint32_t kind, const void *data, uint32_t count) {
    char frame[65536];
    uint32_t head[2] = {kind, count};
    if (count > sizeof frame - sizeof head) return 1;
    memcpy(frame, head, sizeof head);
    memcpy(frame + sizeof head, data, count);
    return write(stream, frame, sizeof head + count) != (ssize_t)(sizeof head + count);
}
static int oldham_serve(size_t outputs) {
    enum { HELLO = 1, START, STEP, OUTPUTS, KEEP, RETURN, BYE, VALUES = 16, ERROR = 18 };
    const char *address = getenv("OLDHAM_SOCKET");
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int stream = socket(AF_UNIX, SOCK_STREAM, 0);
    if (!address || strncmp(address, "unix:", 5)) return fprintf(stderr, "OLDHAM_SOCKET is no unix socket\n"), 1;
    strncpy(place.sun_path, address + 5, sizeof place.sun_path - 1);
    if (connect(stream, (struct sockaddr *)&place, sizeof place)) return perror(address), 1;
    double *values = calloc(outputs + 1, sizeof(double)), *numbers = NULL;
    for (uint32_t head[2]; !oldham_read(stream, head, sizeof head);) {
        numbers = realloc(numbers, head[1] + sizeof(double));
        size_t width = head[1] / sizeof(double);
        const char hello[] = "{\"oldham\": 1}", sorry[] = "it cannot do that";
        if (oldham_read(stream, numbers, head[1])) break;
        if (head[0] == BYE) return 0;
        if (head[0] == HELLO) {
            if (oldham_send(stream, HELLO, hello, sizeof hello - 1)) break;
            continue;
        }
        if (head[0] == START) part_start(numbers[0], numbers + 1, values);
        else if (head[0] == STEP) part_step(numbers[0], numbers[1], numbers + 2, numbers + 2 + (width - 2) / 2, values);
        else {
            oldham_send(stream, ERROR, sorry, sizeof sorry - 1);
            continue;
        }
        if (oldham_send(stream, VALUES, values, (uint32_t)(outputs * sizeof(double)))) break;
    }
    return fprintf(stderr, "Oldham has closed the socket\n"), 1;
}
