/* Time. */
#ifndef BASE_CORE_CLOCK_H
#define BASE_CORE_CLOCK_H

/* Seconds of the monotonic clock; only differences mean anything. */
double clock_now(void);

/* Sleeps for `seconds`, shorter when a signal arrives. */
void clock_sleep(double seconds);

/* Local date and time, "YYYY-MM-DD hh:mm:ss,mmm". Returns `buffer`. */
char *clock_stamp(char buffer[static 32]);

#endif
