/* Shares of cores on hosts that hwloc makes up, and on this one. */
#define _GNU_SOURCE /* CPU sets */
#include "support.h"

#include <sched.h>

#include "machine/topology/core_plan_internal.h"

struct made_up {
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed;
};

static struct made_up open_made_up(const char *description, const char *mask)
{
    struct made_up host;
    assert_int_equal(hwloc_topology_init(&host.topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(host.topology, description), 0);
    assert_int_equal(hwloc_topology_load(host.topology), 0);
    host.allowed = hwloc_bitmap_alloc();
    if (mask) {
        assert_int_equal(hwloc_bitmap_list_sscanf(host.allowed, mask), 0);
    } else {
        hwloc_bitmap_fill(host.allowed);
    }
    return host;
}

static void close_made_up(struct made_up host)
{
    hwloc_bitmap_free(host.allowed);
    hwloc_topology_destroy(host.topology);
}

/* Every rank's share, written "0,2|4,6". */
static void expect_plan(const char *description, const char *mask, int size, const char *wanted)
{
    struct made_up host = open_made_up(description, mask);
    char plan[4096] = "";
    for (int rank = 0; rank < size; rank++) {
        struct core_share share;
        EXPECT_OK(core_plan_share_of(host.topology, host.allowed, rank, size, &share));
        for (int i = 0; i < share.n_cpus; i++) {
            snprintf(plan + strlen(plan), sizeof plan - strlen(plan), "%s%d%s",
                     i > 0      ? ","
                     : rank > 0 ? "|"
                                : "",
                     share.cpus[i], share.shared ? "s" : "");
        }
    }
    assert_string_equal(plan, wanted);
    close_made_up(host);
}

static void cores_count_once(void **state)
{
    (void)state;
    expect_plan("node:1 core:4 pu:2", NULL, 1, "0,2,4,6");
    expect_plan("node:1 core:4 pu:2", NULL, 2, "0,2|4,6");
    expect_plan("node:1 core:4 pu:1", NULL, 4, "0|1|2|3");
}

static void shares_are_equal(void **state)
{
    (void)state;
    expect_plan("node:1 core:5 pu:1", NULL, 2, "0,1|2,3");
    expect_plan("node:1 core:8 pu:1", NULL, 3, "0,1|2,3|4,5");
}

static void a_share_keeps_to_one_node_where_it_can(void **state)
{
    (void)state;
    expect_plan("node:2 core:4 pu:1", NULL, 2, "0,1,2,3|4,5,6,7");
    expect_plan("node:2 core:5 pu:1", NULL, 3, "0,1,2|5,6,7|3,4,8");
    expect_plan("node:4 core:3 pu:1", NULL, 6, "0,1|3,4|6,7|9,10|2,5|8,11");
    expect_plan("node:2 core:2 pu:1", NULL, 1, "0,1,2,3");
}

static void the_mask_is_respected(void **state)
{
    (void)state;
    expect_plan("node:1 core:4 pu:2", "1-5", 1, "1,2,4");
    expect_plan("node:2 core:4 pu:1", "2-5", 2, "2,3|4,5");
    struct made_up host = open_made_up("node:1 core:2 pu:1", "7");
    struct core_share share;
    EXPECT_FAIL(core_plan_share_of(host.topology, host.allowed, 0, 1, &share), YOKE_ERR_INVALID,
                "no core");
    close_made_up(host);
}

static void more_ranks_than_cores_share(void **state)
{
    (void)state;
    expect_plan("node:1 core:2 pu:2", NULL, 5, "0s|2s|0s|2s|0s");
}

static void wrong_ranks_are_refused(void **state)
{
    (void)state;
    struct core_share share;
    EXPECT_FAIL(core_plan_share(2, 2, &share), YOKE_ERR_INVALID, "local rank 2 of 2");
    EXPECT_FAIL(core_plan_share(-1, 2, &share), YOKE_ERR_INVALID, "local rank -1");
    EXPECT_FAIL(core_plan_share(0, 0, &share), YOKE_ERR_INVALID, "of 0");
}

static void a_host_of_too_many_cores_is_refused(void **state)
{
    (void)state;
    struct made_up host = open_made_up("node:1 core:1025 pu:1", NULL);
    struct core_share share;
    EXPECT_FAIL(core_plan_share_of(host.topology, host.allowed, 0, 1, &share), YOKE_ERR_LIMIT,
                "more than 1024");
    close_made_up(host);
}

static void binding_narrows_this_thread(void **state)
{
    (void)state;
    struct core_share share;
    EXPECT_OK(core_plan_share(0, 1, &share));
    struct core_share one = {.n_cpus = 1, .cpus = {share.cpus[share.n_cpus - 1]}};
    EXPECT_OK(core_plan_bind(&one));
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(CPU_ISSET((size_t)one.cpus[0], &set));
    EXPECT_OK(core_plan_share(0, 1, &share));
    assert_int_equal(share.n_cpus, 1);
    assert_int_equal(share.cpus[0], one.cpus[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_count_once),
        cmocka_unit_test(shares_are_equal),
        cmocka_unit_test(a_share_keeps_to_one_node_where_it_can),
        cmocka_unit_test(the_mask_is_respected),
        cmocka_unit_test(more_ranks_than_cores_share),
        cmocka_unit_test(wrong_ranks_are_refused),
        cmocka_unit_test(a_host_of_too_many_cores_is_refused),
        cmocka_unit_test(binding_narrows_this_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
