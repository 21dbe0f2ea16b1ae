/* The reference's orders and its shards, from the smallest data set to several rounds. */
#include "support.h"

#include "learn/train/sampler.h"

enum { MAX_BATCHES = 16, MAX_BATCH = 8 };

static struct sampler open_sampler(size_t n, size_t batch, size_t rank, size_t world,
                                   bool drop_last)
{
    const struct sampler_shape shape = {n, batch, rank, world, drop_last};
    struct sampler sampler;
    EXPECT_OK(sampler_init(&sampler, &shape, 42));
    /* Positions instead of a random order, so that the tables below read as the reference's. */
    for (size_t i = 0; i < n; i++) {
        sampler.order[i] = (int64_t)i;
    }
    return sampler;
}

/* Compares all batches of a rank with "0,1|4,5|8,9". */
static void expect_batches(size_t n, size_t batch, size_t rank, size_t world, bool drop_last,
                           const char *wanted)
{
    struct sampler sampler = open_sampler(n, batch, rank, world, drop_last);
    char text[256] = "";
    size_t len = 0;
    for (size_t k = 0; k < sampler_n_batches(&sampler.shape); k++) {
        size_t examples[MAX_BATCH];
        const size_t count = sampler_batch(&sampler, k, examples);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", k ? "|" : "");
        for (size_t i = 0; i < count; i++) {
            len +=
                (size_t)snprintf(text + len, sizeof text - len, "%s%zu", i ? "," : "", examples[i]);
        }
    }
    assert_string_equal(text, wanted);
    sampler_fini(&sampler);
}

static void the_orders_are_torchs(void **state)
{
    (void)state;
    const int64_t golden[2][10] = {{2, 6, 1, 8, 4, 5, 0, 9, 3, 7}, {8, 4, 9, 0, 5, 1, 6, 7, 2, 3}};
    const struct sampler_shape shape = {10, 4, 0, 1, false};
    struct sampler sampler;
    EXPECT_OK(sampler_init(&sampler, &shape, 42));
    assert_memory_equal(sampler.order, golden[0], sizeof golden[0]);
    sampler_set_epoch(&sampler, 1);
    assert_memory_equal(sampler.order, golden[1], sizeof golden[1]);
    sampler_set_epoch(&sampler, 0);
    assert_memory_equal(sampler.order, golden[0], sizeof golden[0]);
    sampler_fini(&sampler);
}

static void ranks_are_dealt_batches_in_turn(void **state)
{
    (void)state;
    expect_batches(11, 2, 0, 2, false, "0,1|4,5|8,9");
    expect_batches(11, 2, 1, 2, false, "2,3|6,7|10");
    expect_batches(11, 2, 0, 2, true, "0,1|4,5");
    expect_batches(11, 2, 1, 2, true, "2,3|6,7");
    expect_batches(5, 2, 0, 1, false, "0,1|2,3|4");
    expect_batches(5, 2, 0, 1, true, "0,1|2,3");
    /* A rank without examples in the last round has an empty batch there. */
    expect_batches(9, 3, 0, 2, false, "0,1,2|6,7,8");
    expect_batches(9, 3, 1, 2, false, "3,4,5|");
    expect_batches(13, 2, 0, 3, false, "0,1|6,7|12");
    expect_batches(13, 2, 1, 3, false, "2,3|8,9|");
    expect_batches(13, 2, 2, 3, false, "4,5|10,11|");
    expect_batches(3, 2, 1, 4, false, "2");
    expect_batches(3, 2, 3, 4, false, "");
}

/* For any shape: an epoch's examples are each seen once, and the ranks' batches of a round, one
 * behind the other, are the batch of one rank with the whole round. */
static void ranks_see_together_what_one_rank_sees(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 50; n++) {
        for (size_t world = 1; world <= 4; world++) {
            for (size_t batch = 1; batch <= 4; batch++) {
                struct sampler alone = open_sampler(n, batch * world, 0, 1, false);
                const size_t n_rounds = sampler_n_batches(&alone.shape);
                size_t whole[4 * MAX_BATCH], part[MAX_BATCH], n_seen = 0;
                for (size_t k = 0; k < n_rounds; k++) {
                    size_t next = 0;
                    const size_t n_whole = sampler_batch(&alone, k, whole);
                    for (size_t rank = 0; rank < world; rank++) {
                        struct sampler sampler = open_sampler(n, batch, rank, world, false);
                        assert_int_equal(sampler_n_batches(&sampler.shape), n_rounds);
                        assert_int_equal(sampler_round_size(&sampler, k), n_whole);
                        const size_t n_part = sampler_batch(&sampler, k, part);
                        assert_memory_equal(part, whole + next, n_part * sizeof part[0]);
                        next += n_part;
                        sampler_fini(&sampler);
                    }
                    assert_int_equal(next, n_whole);
                    n_seen += next;
                }
                assert_int_equal(n_seen, n);
                sampler_fini(&alone);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_orders_are_torchs),
        cmocka_unit_test(ranks_are_dealt_batches_in_turn),
        cmocka_unit_test(ranks_see_together_what_one_rank_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
