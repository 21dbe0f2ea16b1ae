/* Dropout: the generator against its published answers, every level against plain C bit for bit,
 * and the statistics of the masks. Seeds are fixed, so the statistical bounds (5 standard
 * deviations) either always hold or never. */
#include "check_support.h"

#include "compute/kernels/dropout/philox.h"
#include "compute/ops/dropout.h"

static struct dropout_stream stream_make(float p, uint64_t seed, uint32_t step, uint32_t site)
{
    const struct dropout dropout = {.p = p, .seed = seed, .step = step, .site = site};
    struct dropout_stream stream;
    assert_true(dropout_begin(&dropout, &stream));
    return stream;
}

/* kat_vectors of Random123, the authors' code. */
static void known_answers(void **state)
{
    (void)state;
    static const struct {
        int rounds;
        uint32_t counter[4], key[2], words[4];
    } cases[] = {
        {7, {0, 0, 0, 0}, {0, 0}, {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}},
        {10, {0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {10,
         {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {10,
         {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t keys[10][2], words[4];
        philox_round_keys(cases[i].key[0], cases[i].key[1], cases[i].rounds, keys);
        memcpy(words, cases[i].counter, sizeof words);
        philox((const uint32_t(*)[2])keys, cases[i].rounds, words);
        assert_memory_equal(words, cases[i].words, sizeof words);
    }
}

static void levels_draw_the_same_bits(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    const float ps[] = {1e-5f, 0.1f, 0.5f, 0.9f, 0.99999f};
    static const uint32_t firsts[] = {0, 1, 5, 0x1ffffffe};
    struct kernels ref;
    kernels_fill(&ref, ISA_REF);
    for (size_t i = 0; i < n_levels * 5; i++) {
        struct kernels kernels;
        kernels_fill(&kernels, levels[i / 5]);
        const struct dropout_stream stream = stream_make(ps[i % 5], 0x123456789abcdefu + i, 7, 9);
        for (uint32_t r = 0; r < 100; r++) {
            const struct dropout_row row = {r * 0x10001u, 0xffffffffu - r, r % 12};
            enum { N_GROUPS = 9 };
            uint64_t want[N_GROUPS], got[N_GROUPS];
            ref.dropout.bits(&stream, row, firsts[r % 4], N_GROUPS, want);
            kernels.dropout.bits(&stream, row, firsts[r % 4], N_GROUPS, got);
            assert_memory_equal(got, want, sizeof want);
        }
    }
}

static void apply_once(const struct kernels *kernels, const struct dropout_stream *stream, size_t n,
                       size_t width, size_t shift, int in_place, float *result_out)
{
    uint64_t seed = 31 * width + n;
    struct check_array x = check_array_make(n * width, shift),
                       y = check_array_make(n * width, shift);
    uint32_t examples[8], positions[8];
    check_fill(x.data, x.n, 1.0f, &seed);
    x.data[0] = NAN;
    for (uint32_t t = 0; t < n; t++) {
        examples[t] = 1000 + t / 3;
        positions[t] = t % 3;
    }
    float *to = in_place ? x.data : y.data;
    kernels->dropout.apply(stream, examples, positions, n, width, x.data, to);
    memcpy(result_out, to, n * width * sizeof *to);
    check_array_end(&x, "x");
    check_array_end(&y, "y");
}

static void levels_apply_the_same(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    static const size_t widths[] = {1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 128, 131, 768};
    const struct dropout_stream stream = stream_make(0.1f, 42, 1, 2);
    struct kernels ref;
    kernels_fill(&ref, ISA_REF);
    for (size_t i = 0; i < n_levels; i++) {
        struct kernels kernels;
        kernels_fill(&kernels, levels[i]);
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            enum { N = 5 };
            static float want[N * 768], got[N * 768];
            apply_once(&ref, &stream, N, widths[w], 0, 0, want);
            apply_once(&kernels, &stream, N, widths[w], 1 + w % 3, w % 2, got);
            for (size_t k = 0; k < N * widths[w]; k++) {
                assert_true(isnan(want[k]) ? isnan(got[k]) : got[k] == want[k]);
            }
        }
    }
}

static void probability_is_represented(void **state)
{
    (void)state;
    for (int i = 1; i < 1000; i++) {
        const float p = (float)i / 1000.0f;
        const struct dropout_stream stream = stream_make(p, 1, 1, 1);
        const double represented = (double)stream.threshold / 65536.0;
        assert_true(fabs(represented - (double)p) < 1e-5);
        assert_true(fabs((double)stream.scale * (1.0 - represented) - 1.0) < 1e-6);
    }
}

/* Kept bits of ROWS x COLUMNS elements: position r, column c. */
enum { ROWS = 512, COLUMNS = 512, GROUPS = COLUMNS / DROPOUT_GROUP };

struct mask {
    uint64_t bits[ROWS][GROUPS];
};

static void mask_draw(const struct dropout_stream *stream, uint32_t example, uint32_t plane,
                      struct mask *mask)
{
    struct kernels kernels;
    kernels_fill(&kernels, ISA_REF);
    for (uint32_t r = 0; r < ROWS; r++) {
        const struct dropout_row row = {example, r, plane};
        kernels.dropout.bits(stream, row, 0, GROUPS, mask->bits[r]);
    }
}

static int kept(const struct mask *mask, size_t r, size_t c)
{
    return (int)(mask->bits[r][c / DROPOUT_GROUP] >> (c % DROPOUT_GROUP) & 1);
}

/* (count - n q) / sqrt(n q (1 - q)): a standard normal if n elements are kept with probability q.
 */
static double deviation(double count, double n, double q)
{
    return (count - n * q) / sqrt(n * q * (1.0 - q));
}

/* Chi-square with n degrees of freedom as a standard normal (n is large). */
static double chi_deviation(double sum, double n)
{
    return (sum - n) / sqrt(2.0 * n);
}

static void rows_and_columns_are_binomial(void **state)
{
    (void)state;
    static struct mask mask;
    const float ps[] = {0.1f, 0.5f, 0.9f};
    for (size_t i = 0; i < 3; i++) {
        const struct dropout_stream stream = stream_make(ps[i], 2024, 17, 4);
        const double q = 1.0 - (double)stream.threshold / 65536.0;
        mask_draw(&stream, 99, 0, &mask);
        double total = 0.0, row_chi = 0.0, column_chi = 0.0;
        for (size_t r = 0; r < ROWS; r++) {
            double row = 0.0, column = 0.0;
            for (size_t c = 0; c < COLUMNS; c++) {
                row += kept(&mask, r, c);
                column += kept(&mask, c, r);
            }
            total += row;
            row_chi += pow(deviation(row, COLUMNS, q), 2);
            column_chi += pow(deviation(column, ROWS, q), 2);
        }
        assert_true(fabs(deviation(total, ROWS * COLUMNS, q)) < 5.0);
        assert_true(fabs(chi_deviation(row_chi, ROWS)) < 5.0);
        assert_true(fabs(chi_deviation(column_chi, COLUMNS)) < 5.0);
    }
}

/* Elements (r, c) of a and (r + dr, c + dc) of b are both kept in q^2 of the cases. */
static void expect_independent(const char *what, const struct mask *a, const struct mask *b,
                               size_t dr, size_t dc, double q)
{
    double both = 0.0;
    for (size_t r = 0; r + dr < ROWS; r++) {
        for (size_t c = 0; c + dc < COLUMNS; c++) {
            both += kept(a, r, c) & kept(b, r + dr, c + dc);
        }
    }
    const double n = (double)((ROWS - dr) * (COLUMNS - dc));
    /* Overlapping pairs share elements: the variance is that of pairs plus 2 q^3 (1 - q) each. */
    const double variance = n * (q * q * (1.0 - q * q) + 2.0 * q * q * q * (1.0 - q));
    const double z = (both - n * q * q) / sqrt(variance);
    if (fabs(z) > 5.0) {
        fail_msg("%s, distance %zu rows and %zu columns: %g standard deviations", what, dr, dc, z);
    }
}

static void neighbours_are_independent(void **state)
{
    (void)state;
    static struct mask mask;
    const struct dropout_stream stream = stream_make(0.5f, 5, 6, 7);
    mask_draw(&stream, 3, 2, &mask);
    const size_t distances[] = {0, 1, 2, 3, 4, 8, 16, 31, 32, 33, 64, 128};
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        for (size_t k = 0; k < sizeof distances / sizeof *distances; k++) {
            if (i + k > 0) {
                expect_independent("one mask", &mask, &mask, distances[i], distances[k], 0.5);
            }
        }
    }
}

static void every_part_of_the_address_counts(void **state)
{
    (void)state;
    static struct mask base, other;
    const struct dropout_stream stream = stream_make(0.5f, 5, 6, 7);
    mask_draw(&stream, 3, 2, &base);
    const struct dropout_stream streams[] = {stream,
                                             stream,
                                             stream_make(0.5f, 6, 6, 7),
                                             stream_make(0.5f, 5 + ((uint64_t)1 << 40), 6, 7),
                                             stream_make(0.5f, 5, 7, 7),
                                             stream_make(0.5f, 5, 6, 8)};
    const uint32_t examples[] = {4, 3, 3, 3, 3, 3}, planes[] = {2, 3, 2, 2, 2, 2};
    const char *names[] = {"example", "plane", "seed", "high word of the seed", "step", "site"};
    for (size_t i = 0; i < 6; i++) {
        mask_draw(&streams[i], examples[i], planes[i], &other);
        expect_independent(names[i], &base, &other, 0, 0, 0.5);
        expect_independent(names[i], &base, &other, 1, 0, 0.5);
        expect_independent(names[i], &base, &other, 0, 1, 0.5);
    }
}

static void bench(void)
{
    enum { N = 64, WIDTH = 768 };
    static float x[N * WIDTH];
    static uint32_t at[N];
    const struct dropout_stream stream = stream_make(0.1f, 1, 2, 3);
    enum isa_level levels[3];
    levels[0] = ISA_REF;
    const size_t n_levels = 1 + check_levels(levels + 1);
    for (size_t i = 0; i < n_levels; i++) {
        struct kernels kernels;
        kernels_fill(&kernels, levels[i]);
        double best = 1e9;
        for (int round = 0; round < 50; round++) {
            const double start = check_seconds();
            kernels.dropout.apply(&stream, at, at, N, WIDTH, x, x);
            best = fmin(best, check_seconds() - start);
        }
        printf("%-8s apply %7.3f ns per element\n", isa_level_name(levels[i]),
               1e9 * best / (N * WIDTH));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(levels_draw_the_same_bits),
        cmocka_unit_test(levels_apply_the_same),
        cmocka_unit_test(probability_is_represented),
        cmocka_unit_test(rows_and_columns_are_binomial),
        cmocka_unit_test(neighbours_are_independent),
        cmocka_unit_test(every_part_of_the_address_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
