/* The measured tables behind unicode.h: what the reference does to each code point. */
#ifndef LEARN_TEXT_UNICODE_TABLES_H
#define LEARN_TEXT_UNICODE_TABLES_H

#include <stddef.h>
#include <stdint.h>

/* Code points first..last, ends included, have `flags` (enum unicode_flag). Ascending and disjoint.
 */
struct unicode_flag_range {
    uint32_t first, last;
    uint8_t flags;
};
extern const struct unicode_flag_range unicode_flag_ranges[];
extern const size_t unicode_n_flag_ranges;

/* The same for ASCII, which needs no search. */
extern const uint8_t unicode_ascii_flags[128];

/* The lower case of first, first + stride .. last is the code point + delta. Ascending by `first`;
 * a code point between two strides belongs to no range. */
struct unicode_case_range {
    uint32_t first, last;
    uint8_t stride;
    int32_t delta;
};
extern const struct unicode_case_range unicode_case_ranges[];
extern const size_t unicode_n_case_ranges;

#endif
