/* The level is what the host has, capped by YOKE_ISA. */
#include "support.h"

#include "machine/isa/isa.h"

static void the_variable_caps_the_level(void **state)
{
    (void)state;
    enum isa_level level = ISA_REF;
    unsetenv("YOKE_ISA");
    EXPECT_OK(isa_choose(&level));
    assert_int_equal(level, isa_detect());
    setenv("YOKE_ISA", "ref", 1);
    EXPECT_OK(isa_choose(&level));
    assert_int_equal(level, ISA_REF);
    setenv("YOKE_ISA", isa_level_name(isa_detect()), 1);
    EXPECT_OK(isa_choose(&level));
    assert_int_equal(level, isa_detect());
    setenv("YOKE_ISA", "avx1024", 1);
    EXPECT_FAIL(isa_choose(&level), YOKE_ERR_CONFIG, "avx1024");
    if (isa_detect() < ISA_AMX) {
        setenv("YOKE_ISA", "amx", 1);
        EXPECT_FAIL(isa_choose(&level), YOKE_ERR_UNSUPPORTED, "this host has at most");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_variable_caps_the_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
