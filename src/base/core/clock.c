/* Clocks of the C library in seconds. */
#include "base/core/clock.h"

#include <stdio.h>
#include <time.h>

double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void clock_sleep(double seconds)
{
    const double whole = (double)(time_t)seconds;
    const struct timespec span = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(1e9 * (seconds - whole))};
    (void)nanosleep(&span, NULL);
}

char *clock_stamp(char buffer[static 32])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    const size_t n = strftime(buffer, 32, "%Y-%m-%d %H:%M:%S", &parts);
    snprintf(buffer + n, 32 - n, ",%03ld", now.tv_nsec / 1000000 % 1000);
    return buffer;
}
