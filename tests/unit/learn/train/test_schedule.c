/* Traces of the learning rate and the arithmetic of steps and epochs. */
#include "support.h"

#include <math.h>

#include "learn/train/schedule.h"

static void expect_factors(struct schedule schedule, const double *wanted, int n)
{
    for (int i = 0; i < n; i++) {
        if (fabs(schedule_factor(&schedule, i) - wanted[i]) > 1e-12) {
            fail_msg("step %d: %g, wanted %g", i, schedule_factor(&schedule, i), wanted[i]);
        }
    }
}

static void learning_rates_move_as_the_references(void **state)
{
    (void)state;
    const double plain[] = {1.0, 0.75, 0.5, 0.25, 0.0, 0.0};
    expect_factors((struct schedule){SCHEDULE_LINEAR, 0, 4}, plain, 6);
    const double warm[] = {0.0, 0.5, 1.0, 0.75, 0.5, 0.25, 0.0};
    expect_factors((struct schedule){SCHEDULE_LINEAR, 2, 6}, warm, 7);
    const double one[] = {0.0, 1.0, 0.5, 0.0}; /* a warm-up of one step begins at 0 too */
    expect_factors((struct schedule){SCHEDULE_LINEAR, 1, 3}, one, 4);
    const double constant[] = {1.0, 1.0, 1.0};
    expect_factors((struct schedule){SCHEDULE_CONSTANT, 2, 3}, constant, 3);
    const double risen[] = {0.0, 0.5, 1.0, 1.0};
    expect_factors((struct schedule){SCHEDULE_CONSTANT_WITH_WARMUP, 2, 4}, risen, 4);
    const double longer[] = {0.0, 0.1, 0.2}; /* a warm-up longer than the run */
    expect_factors((struct schedule){SCHEDULE_LINEAR, 10, 3}, longer, 3);
}

static void expect_plan(size_t n_batches, size_t accumulated, double epochs, int64_t max_steps,
                        int64_t n_steps, int64_t n_epochs)
{
    struct step_plan plan;
    EXPECT_OK(step_plan_make(n_batches, accumulated, epochs, max_steps, &plan));
    assert_int_equal(plan.n_steps, n_steps);
    assert_int_equal(plan.n_epochs, n_epochs);
}

static void steps_are_counted_as_the_references(void **state)
{
    (void)state;
    expect_plan(7377, 1, 2.0, -1, 14754, 2); /* 88,524 windows in batches of 12 */
    expect_plan(10, 4, 1.0, -1, 3, 1);       /* the rest is a smaller last step */
    expect_plan(10, 4, 2.5, -1, 8, 3);
    expect_plan(10, 1, 0.25, -1, 3, 1);
    expect_plan(10, 1, 3.0, 15, 15, 2);
    expect_plan(2, 8, 3.0, -1, 3, 3);
    struct step_plan plan;
    EXPECT_FAIL(step_plan_make(0, 1, 1.0, -1, &plan), YOKE_ERR_INVALID, "--dataloader_drop_last");
    EXPECT_FAIL(step_plan_make(5, 1, 0.0, -1, &plan), YOKE_ERR_INVALID, "--num_train_epochs");
}

static void steps_find_their_batches(void **state)
{
    (void)state;
    struct step_plan plan;
    EXPECT_OK(step_plan_make(10, 4, 2.0, -1, &plan));
    const size_t begins[] = {0, 4, 8}, ends[] = {4, 8, 10};
    for (int64_t step = 0; step < 6; step++) {
        int64_t epoch;
        size_t begin, end;
        step_plan_locate(&plan, step, &epoch, &begin, &end);
        assert_int_equal(epoch, step / 3);
        assert_int_equal(begin, begins[step % 3]);
        assert_int_equal(end, ends[step % 3]);
    }
    assert_true(step_plan_epoch(&plan, 1) == 0.4);
    assert_true(step_plan_epoch(&plan, 3) == 1.0);
    assert_true(step_plan_epoch(&plan, 5) == 1.8);
    assert_true(step_plan_epoch(&plan, 6) == 2.0);
}

static void intervals_are_steps_or_shares(void **state)
{
    (void)state;
    int64_t steps;
    EXPECT_OK(step_plan_interval("save_steps", 500.0, 1000, &steps));
    assert_int_equal(steps, 500);
    EXPECT_OK(step_plan_interval("save_steps", 0.25, 10, &steps));
    assert_int_equal(steps, 3);
    EXPECT_FAIL(step_plan_interval("save_steps", 2.5, 10, &steps), YOKE_ERR_INVALID,
                "--save_steps 2.5");
    EXPECT_FAIL(step_plan_interval("save_steps", -1.0, 10, &steps), YOKE_ERR_INVALID,
                "--save_steps -1");
    EXPECT_FAIL(step_plan_interval("save_steps", NAN, 10, &steps), YOKE_ERR_INVALID,
                "--save_steps");
    assert_int_equal(step_plan_warmup(0.0, 0.0, 100), 0);
    assert_int_equal(step_plan_warmup(0.0, 0.06, 101), 7);
    assert_int_equal(step_plan_warmup(0.1, 0.5, 101), 11); /* a share in warmup_steps */
    assert_int_equal(step_plan_warmup(20.0, 0.5, 100), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learning_rates_move_as_the_references),
        cmocka_unit_test(steps_are_counted_as_the_references),
        cmocka_unit_test(steps_find_their_batches),
        cmocka_unit_test(intervals_are_steps_or_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
