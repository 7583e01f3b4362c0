/* Keys: equal in all their encodings, and different from all other keys. */
#include "test.h"

#include "key.h"

/* Encodings of keys. Encodings with the same class are the same key. */
static const struct {
    int of;
    const char *bytes;
    size_t n;
} encodings[] = {
#define ENCODING(of, s) {of, s, sizeof(s) - 1}
    ENCODING(0, "\x01"), ENCODING(0, "\xcc\x01"), ENCODING(0, "\xcd\x00\x01"), ENCODING(0, "\xce\x00\x00\x00\x01"),
    ENCODING(0, "\xcf\x00\x00\x00\x00\x00\x00\x00\x01"), ENCODING(0, "\xd0\x01"), ENCODING(0, "\xd1\x00\x01"),
    ENCODING(0, "\xd2\x00\x00\x00\x01"), ENCODING(0, "\xd3\x00\x00\x00\x00\x00\x00\x00\x01"),
    ENCODING(1, "\xff"), ENCODING(1, "\xd0\xff"), ENCODING(1, "\xd1\xff\xff"), ENCODING(1, "\xd2\xff\xff\xff\xff"),
    ENCODING(1, "\xd3\xff\xff\xff\xff\xff\xff\xff\xff"),
    ENCODING(2, "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
    ENCODING(3, "\xca\x3f\x80\x00\x00"), ENCODING(3, "\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"),
    ENCODING(4, "\xca\x00\x00\x00\x00"), ENCODING(4, "\xca\x80\x00\x00\x00"),
    ENCODING(4, "\xcb\x80\x00\x00\x00\x00\x00\x00\x00"), ENCODING(5, "\x00"),
    ENCODING(6, "\xa1" "a"), ENCODING(6, "\xd9\x01" "a"), ENCODING(6, "\xda\x00\x01" "a"),
    ENCODING(6, "\xdb\x00\x00\x00\x01" "a"), ENCODING(6, "\xc4\x01" "a"), ENCODING(6, "\xc5\x00\x01" "a"),
    ENCODING(6, "\xc6\x00\x00\x00\x01" "a"),
    ENCODING(7, "\xa2\xc3\xa9"), ENCODING(7, "\xd9\x02\xc3\xa9"), ENCODING(8, "\xc4\x02\xc3\xa9"),
    ENCODING(9, "\xa0"), ENCODING(9, "\xd9\x00"), ENCODING(9, "\xc4\x00"),
    ENCODING(10, "\xc0"), ENCODING(11, "\xc2"), ENCODING(12, "\xc3"),
    ENCODING(13, "\x91\x01"), ENCODING(14, "\x81\x01\x02"), ENCODING(15, "\xd4\x05\x01"), ENCODING(16, "\xd4\x06\x01"),
    ENCODING(17, "\xa9" "123456789"), ENCODING(18, "\xa9" "123456780"), ENCODING(17, "\xc4\x09" "123456789"),
    ENCODING(19, "\xb2" "12345678ab12345678"), ENCODING(20, "\xb2" "12345678ba12345678"),
    ENCODING(21, "\xa2" "b1"), ENCODING(22, "\xc4\x02" "a\xff"), ENCODING(23, "\xa2" "a\xff"),
    ENCODING(24, "\xa8" "12345678"), ENCODING(24, "\xd9\x08" "12345678"), ENCODING(24, "\xc4\x08" "12345678"),
#undef ENCODING
};
enum { ENCODINGS = sizeof(encodings) / sizeof(encodings[0]) };

static mp_key
key_of(size_t i)
{
    const uint8_t *bytes = (const uint8_t *)encodings[i].bytes;

    return mp_key_read(bytes, bytes + encodings[i].n);
}

static void
are_compared_as_objects(void)
{
    size_t i, j;

    for (i = 0; i < ENCODINGS; i++) {
        for (j = 0; j < ENCODINGS; j++) {
            mp_key a = key_of(i), b = key_of(j);
            int order = mp_key_compare(&a, &b), back = mp_key_compare(&b, &a);

            CHECK((order == 0) == (encodings[i].of == encodings[j].of), "%zu and %zu", i, j);
            CHECK((order > 0) == (back < 0) && (order < 0) == (back > 0), "%zu and %zu", i, j);
            if (!order) CHECK(mp_key_signature(&a) == mp_key_signature(&b), "%zu and %zu", i, j);
        }
    }
}

static void
have_one_order(void)
{
    size_t i, j, k;

    for (i = 0; i < ENCODINGS; i++) {
        for (j = 0; j < ENCODINGS; j++) {
            for (k = 0; k < ENCODINGS; k++) {
                mp_key a = key_of(i), b = key_of(j), c = key_of(k);
                if (mp_key_compare(&a, &b) <= 0 && mp_key_compare(&b, &c) <= 0)
                    CHECK(mp_key_compare(&a, &c) <= 0, "%zu, %zu, %zu", i, j, k);
            }
        }
    }
}

static void
are_made_of_values(void)
{
    const mp_key made[] = {mp_key_sint(1), mp_key_sint(-1), mp_key_uint(UINT64_MAX), mp_key_real(1), mp_key_real(-0.0),
                           mp_key_uint(0), mp_key_str("a", 1), mp_key_str("\xc3\xa9", 2), mp_key_bin("\xc3\xa9", 2),
                           mp_key_bin("", 0), mp_key_special(MP_NIL), mp_key_special(MP_FALSE),
                           mp_key_special(MP_TRUE)};
    size_t i, j;

    for (i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        for (j = 0; j < ENCODINGS; j++) {
            mp_key read = key_of(j);
            CHECK((mp_key_compare(&made[i], &read) == 0) == (encodings[j].of == (int)i), "%zu and %zu", i, j);
        }
    }
}

static void
may_be_no_number(void)
{
    static const uint8_t nans[] = "\xca\x7f\xc0\x00\x00\xca\xff\x80\x00\x01\xca\x7f\x80\x00\x00";
    size_t i;

    for (i = 0; i < 3; i++) {
        mp_key key = mp_key_read(nans + 5 * i, nans + 5 * i + 5);
        CHECK(mp_key_nan_p(&key) == (i < 2), "%zu", i);
    }
}

/* All bytes of a key of up to eight count, so that keys like "id1" and "id2" are told apart by their signatures. */
static void
have_a_signature_of_all_bytes(void)
{
    size_t n, i;

    for (n = 1; n <= 8; n++) {
        for (i = 0; i < n; i++) {
            char a[8] = "aaaaaaaa", b[8] = "aaaaaaaa";
            mp_key one, other;

            b[i] = 'b';
            one = mp_key_str(a, (uint32_t)n);
            other = mp_key_str(b, (uint32_t)n);
            CHECK(mp_key_signature(&one) != mp_key_signature(&other), "%zu of %zu", i, n);
        }
    }
}

void
mp_test_key(void)
{
    are_compared_as_objects();
    have_one_order();
    are_made_of_values();
    may_be_no_number();
    have_a_signature_of_all_bytes();
}
