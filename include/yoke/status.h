/* Status codes of yoke: one list that gives the enum, the text, the exit code of the program.
 *
 * 0 is success, positive values are not errors, negative values are. The code says what the caller
 * can do about it; the text of yoke_last_error() says what happened, where, and what to do. */
#ifndef YOKE_STATUS_H
#define YOKE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, text, exit code of the program). Values are frozen: they are part of the ABI. */
#define YOKE_STATUS_LIST(X)                                                                        \
    X(YOKE_OK, 0, "ok", 0)                                                                         \
    X(YOKE_IN_PROGRESS, 1, "in progress", 0)                                                       \
    X(YOKE_ERR_INVALID, -1, "invalid argument", 2)                                                 \
    X(YOKE_ERR_UNSUPPORTED, -2, "not supported", 3)                                                \
    X(YOKE_ERR_NO_MEMORY, -3, "out of memory", 4)                                                  \
    X(YOKE_ERR_NOT_FOUND, -4, "not found", 5)                                                      \
    X(YOKE_ERR_EXISTS, -5, "already exists", 6)                                                    \
    X(YOKE_ERR_IO, -6, "input or output failed", 7)                                                \
    X(YOKE_ERR_FORMAT, -7, "malformed data", 8)                                                    \
    X(YOKE_ERR_TIMEOUT, -8, "timed out", 9)                                                        \
    X(YOKE_ERR_PEER_LOST, -9, "a peer was lost", 10)                                               \
    X(YOKE_ERR_MISMATCH, -10, "ranks disagree", 11)                                                \
    X(YOKE_ERR_CANCELLED, -11, "cancelled", 12)                                                    \
    X(YOKE_ERR_BUSY, -12, "busy", 13)                                                              \
    X(YOKE_ERR_LIMIT, -13, "limit exceeded", 14)                                                   \
    X(YOKE_ERR_CONFIG, -14, "wrong configuration", 15)                                             \
    X(YOKE_ERR_NUMERIC, -15, "not a finite number", 16)                                            \
    X(YOKE_ERR_INTERNAL, -16, "internal error", 17)

#define YOKE_STATUS_ENUM(name, value, text, exit_code) name = value,
typedef enum yoke_status { YOKE_STATUS_LIST(YOKE_STATUS_ENUM) } yoke_status;
#undef YOKE_STATUS_ENUM

/* Short text of a status, e.g. "malformed data"; "unknown status" for a value outside the list.
 * The string is static. */
const char *yoke_status_text(yoke_status status);

/* The exit code with which the program reports `status`: 0 to 17, 1 for an unknown value. */
int yoke_status_exit_code(yoke_status status);

/* One line on the last failure of this thread: what, where, what to do. Empty when none happened.
 * Borrowed; valid until the next failing call of this thread. */
const char *yoke_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
