/* The three timestamp layouts, their limits, and refused bodies. */
#include "test.h"

#include "timestamp.h"

static void
comes_back_in_the_shortest_layout(void)
{
    static const struct {
        mp_timestamp timestamp;
        size_t size;
    } cases[] = {
        {{0, 0}, 4}, {{4294967295, 0}, 4}, {{4294967296, 0}, 8}, {{0, 1}, 8}, {{17179869183, 999999999}, 8},
        {{17179869184, 0}, 12}, {{-1, 0}, 12}, {{INT64_MIN, 999999999}, 12}, {{INT64_MAX, 1}, 12},
    };
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t body[MP_TIMESTAMP_MAX], *block;
        mp_timestamp back = {0, 0};
        size_t size = mp_timestamp_put(body, cases[i].timestamp);

        CHECK(size == cases[i].size, "case %zu took %zu", i, size);
        block = mp_exact(body, size);
        CHECK(mp_timestamp_read(block, size, &back) == MP_OK, "case %zu", i);
        free(block);
        CHECK(back.sec == cases[i].timestamp.sec && back.nsec == cases[i].timestamp.nsec, "case %zu", i);
    }
}

static void
refuses_other_sizes_and_a_second_of_nanoseconds(void)
{
    uint8_t body[16] = {0};
    mp_timestamp back;
    size_t n;

    for (n = 0; n <= 16; n++) {
        mp_status expected = n == 4 || n == 8 || n == 12 ? MP_OK : MP_E_TIMESTAMP_SIZE;
        CHECK(mp_timestamp_read(body, n, &back) == expected, "%zu bytes", n);
    }
    mp_store32(body, 1000000000);
    CHECK(mp_timestamp_read(body, 12, &back) == MP_E_TIMESTAMP_NSEC, "96");
    mp_store64(body, (uint64_t)1000000000 << 34);
    CHECK(mp_timestamp_read(body, 8, &back) == MP_E_TIMESTAMP_NSEC, "64");
}

static void
knows_the_years_1_to_9999(void)
{
    CHECK(mp_timestamp_check_range((mp_timestamp){MP_TIMESTAMP_SEC_MIN, 0}) == MP_OK, "the first second");
    CHECK(mp_timestamp_check_range((mp_timestamp){MP_TIMESTAMP_SEC_MAX, 999999999}) == MP_OK, "the last second");
    CHECK(mp_timestamp_check_range((mp_timestamp){MP_TIMESTAMP_SEC_MIN - 1, 0}) == MP_E_TIMESTAMP_RANGE, "before");
    CHECK(mp_timestamp_check_range((mp_timestamp){MP_TIMESTAMP_SEC_MAX + 1, 0}) == MP_E_TIMESTAMP_RANGE, "after");
}

void
mp_test_timestamp(void)
{
    knows_the_years_1_to_9999();
    comes_back_in_the_shortest_layout();
    refuses_other_sizes_and_a_second_of_nanoseconds();
}
