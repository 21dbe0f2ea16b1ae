/* How errors are made and passed on.
 *
 * The function that first decides what an error is calls yoke_fail() and returns its value; every
 * caller forwards it with YOKE_TRY. Nothing is printed here: the program's top level prints
 * yoke_last_error() once, so that a message never appears twice and never gets lost. */
#ifndef BASE_CORE_STATUS_H
#define BASE_CORE_STATUS_H

#include "yoke/status.h"

#define YOKE_MUST_USE __attribute__((warn_unused_result))

/* Stores the message for yoke_last_error() (cut at 1,023 bytes; line breaks and other control
 * characters become '?', for the message is one line) and is worth `status`. `%m` gives strerror(errno).
 * A macro, so that the compiler sees the constant and knows that the caller's caller leaves. */
#define yoke_fail(status, ...) (yoke_message_set(__VA_ARGS__), (status))

/* The function behind yoke_fail; errno is kept. */
void yoke_message_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Puts "PREFIX: " before the stored message: callers that know the file or the id add it. Returns
 * `status` unchanged; does nothing when `status` is not an error. */
yoke_status yoke_fail_prefix(yoke_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns from the enclosing function when `expression` is an error. */
#define YOKE_TRY(expression)                                                                       \
    do {                                                                                           \
        const yoke_status yoke_try_status = (expression);                                          \
        if (yoke_try_status < 0) {                                                                 \
            return yoke_try_status;                                                                \
        }                                                                                          \
    } while (0)

/* Assigns `expression` to the variable `status` and jumps to the label `done` on an error. */
#define YOKE_TRY_GOTO(expression)                                                                  \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status < 0) {                                                                          \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

#endif
