/* The mass of mass2.c, which cannot be made without a file of its resources. */
#include <stdio.h>
#define fmi2Instantiate plain_instantiate
#include "mass2.c"
#undef fmi2Instantiate

Handle fmi2Instantiate(const char *name, int type, const char *guid, const char *place, const Callbacks *calls,
                       int visible, int logging) {
    char path[4096];
    snprintf(path, sizeof path, "%s/table.txt", place + strlen("file://"));
    FILE *table = fopen(path, "r");
    if (!table) {
        calls->logger(calls->environment, name, 3, "error", "cannot open table.txt of the resources");
        return NULL;
    }
    fclose(table);
    return plain_instantiate(name, type, guid, place, calls, visible, logging);
}
