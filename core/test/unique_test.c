/* Equal keys: as tapes refuse them, among few and among many, and the notes that spare reading keys again. */
#include "tapes.h"

#include "unique.h"

static void
refuses_keys(void)
{
    static const struct {
        const char *bytes;
        size_t n;
        mp_status unique, any;
        size_t at;
    } cases[] = {
#define CASE(s, unique, any, at) {s, sizeof(s) - 1, unique, any, at}
        CASE("\x91\x82\x01\xc0\xcc\x01\xc0", MP_E_DUPLICATE_KEY, MP_OK, 1),
        CASE("\x82\xa1" "a\xc0\xc4\x01" "a\xc0", MP_E_DUPLICATE_KEY, MP_OK, 0),
        CASE("\x82\xa1\xff\xc0\xc4\x01\xff\xc0", MP_OK, MP_OK, 0),
        CASE("\x82\x01\x82\x01\x02\x02\x03\x02\xc0", MP_OK, MP_OK, 0),
        CASE("\x84\x01\x01\x01\x01", MP_E_TRUNCATED, MP_E_TRUNCATED, 5),
        CASE("\x81\xca\x7f\xc0\x00\x00\x01", MP_E_NAN_KEY, MP_E_UNDECIDED, 1),
        CASE("\x81\x01\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", MP_OK, MP_OK, 0),
        CASE("\x91\x81\x90\x01", MP_E_UNDECIDED, MP_E_UNDECIDED, 2),
        CASE("\x81\xd4\x05\x01\x01", MP_E_UNDECIDED, MP_E_UNDECIDED, 1),
        CASE("\x91\x81\x91\x01\x01", MP_E_UNDECIDED, MP_E_UNDECIDED, 2),
        CASE("\x91\x81\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00\xcb\x00\x00\x00\x00\x00\x00\x00\x00", MP_E_NAN_KEY,
             MP_E_UNDECIDED, 2),
        CASE("\x92\x94\x01\x01\x01\x01\x94\x01\x01\x01\x01", MP_OK, MP_OK, 0),
#undef CASE
    };
    mp_check any = MP_CHECK_NONE, unique = any, limited;
    size_t i, blame;

    unique.unique_keys = true;
    limited = unique;
    limited.limits.string = 100; /* then it does not stride over strs without a look */
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t bytes[64] = {0};
        size_t behind; /* bytes after the message, into which it could stride */

        memcpy(bytes, cases[i].bytes, cases[i].n);
        for (behind = 0; behind <= MP_AHEAD && (!behind || cases[i].any != MP_E_TRUNCATED); behind += MP_AHEAD) {
            size_t n = cases[i].n + behind;
            CHECK(mp_status_of_tape(bytes, n, &any, &blame) == cases[i].any, "case %zu", i);
            CHECK(mp_status_of_tape(bytes, n, &unique, &blame) == cases[i].unique, "case %zu", i);
            if (cases[i].unique != MP_OK) CHECK(blame == cases[i].at, "case %zu: at %zu", i, blame);
            CHECK(mp_status_of_tape(bytes, n, &limited, &blame) == cases[i].unique, "case %zu", i);
            if (cases[i].unique != MP_OK) CHECK(blame == cases[i].at, "case %zu: at %zu", i, blame);
        }
    }
}

/* Maps of up to 300 integer keys in random order, without and with a key twice. */
static void
finds_a_duplicate_among_many(void)
{
    enum { MANY = 300 };
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true};
    uint8_t message[3 + 4 * MANY];
    uint32_t n, i;

    for (n = 2; n <= MANY; n++) {
        mp_tape tape = mp_fresh_tape(message, 3 + 4 * n, 8, MP_TAPE_KEEP);
        uint32_t round;

        tape.grow = mp_grow_by_many;
        for (round = 0; round < 2; round++) {
            message[0] = 0xde;
            mp_store16(message + 1, (uint16_t)n);
            for (i = 0; i < n; i++) {
                message[3 + 4 * i] = 0xcd;
                mp_store16(message + 4 + 4 * i, (uint16_t)((i * 7919) % 65521));
                message[6 + 4 * i] = 0xc0;
            }
            if (round) memcpy(message + 3 + 4 * (n / 3), message + 3 + 4 * (n - 1), 3);
            tape.checks = &checks;
            tape.at = tape.count = tape.depth = 0;
            tape.status = MP_OK;
            CHECK(mp_tape_finish(&tape) == (round ? MP_E_DUPLICATE_KEY : MP_OK), "%" PRIu32, n);
        }
        free(tape.entries);
    }
}

/* Keys whose signatures are equal: comparing each key with each would take noticeable time. */
static void
sorts_keys_that_look_alike(void)
{
    enum { MANY = 30000, EACH = 25 };
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true};
    uint8_t *message = malloc(5 + MANY * (EACH + 1)), *p;
    uint32_t i;
    mp_tape tape;

    if (!message) abort();
    message[0] = 0xdf;
    mp_store32(message + 1, MANY);
    for (i = 0, p = message + 5; i < MANY; i++, p += EACH + 1) {
        memset(p, 'a', EACH);
        *p = 0xa0 | (EACH - 1);
        mp_store32(p + 10, i * 2654435761u);
        p[EACH] = 0xc0;
    }
    tape = mp_fresh_tape(message, (size_t)(p - message), 8, MP_TAPE_KEEP);
    tape.grow = mp_grow_by_many;
    tape.checks = &checks;
    CHECK(mp_tape_finish(&tape) == MP_OK, "%d", (int)tape.status);
    memcpy(message + 5, p - EACH - 1, EACH);
    tape.at = tape.count = 0;
    CHECK(mp_tape_finish(&tape) == MP_E_DUPLICATE_KEY, "%d", (int)tape.status);
    free(tape.entries);
    free(message);
}

/* Writes a map of n keys of the given length, every second value a map of two others; returns its size. */
static size_t
map_of_names(uint8_t *message, uint32_t n, uint32_t length)
{
    uint8_t *p = mp_put_map_head(message, n);
    uint32_t i;

    for (i = 0; i < n; i++) {
        p = mp_put_str_head(p, length, false);
        memset(p, 'k', length);
        p[length - 1] = (uint8_t)(i * 37);
        if (length > 1) p[0] = (uint8_t)(i >> 8);
        p += length;
        if (i % 2) p = mp_put_nil(p);
        else memcpy(p, "\x82\xa1" "a\x01\xa1" "b\x02", 7), p += 7;
    }
    return (size_t)(p - message);
}

/* Maps of up to 256 names, without and with a name twice; also at a depth where keys are not noted. */
static void
notes_keys_while_it_walks(void)
{
    enum { MANY = 256, LONGEST = 31, DEEPEST = MP_CHECK_NOTED + 1 };
    static mp_noted_keys noted[MP_CHECK_NOTED];
    static uint8_t message[DEEPEST + 5 + MANY * (LONGEST + 8) + MP_AHEAD];
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true, .noted = noted};
    uint32_t n, round, length, depth;

    for (n = 2; n <= MANY; n += 1 + n / 8) {
        for (round = 0; round < 8; round++) {
            uint8_t *map = message + (depth = round & 4 ? DEEPEST - 1 : 0);
            bool twice = round & 1;
            mp_tape tape;
            size_t size;

            length = round & 2 ? 1 : 1 + n % LONGEST;
            memset(message, 0x91, depth);
            size = map_of_names(map, n, length);
            if (twice) memcpy(map + size - 1 - (n % 2 ? 6 : 0) - length, map + mp_head_need(map, map + 1) + 1, length);
            memset(map + size, 0, MP_AHEAD);
            tape = mp_fresh_tape(message, depth + size + MP_AHEAD, 32, MP_TAPE_KEEP);
            tape.grow = mp_grow_by_many;
            tape.checks = &checks;
            CHECK(mp_tape_finish(&tape) == (twice ? MP_E_DUPLICATE_KEY : MP_OK), "%" PRIu32 " %" PRIu32, n, round);
            free(tape.entries);
        }
    }
}

/* Keys that are read again would need room for entries. The deepest maps in the map are at the last noted depth. */
static void
notes_keys_once(void)
{
    static mp_noted_keys noted[MP_CHECK_NOTED];
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true, .noted = noted};
    mp_tape_entry entries[MP_CHECK_NOTED + 1];
    uint32_t depth;

    for (depth = 0; depth + 2 <= MP_CHECK_NOTED; depth++) {
        uint8_t message[512] = {0};
        size_t size = depth + map_of_names(message + depth, 10, 8);
        mp_tape tape = mp_fresh_tape(message, size + MP_AHEAD, MP_CHECK_NOTED, MP_TAPE_KEEP);

        memset(message, 0x91, depth);
        tape.entries = entries;
        tape.capacity = depth + 3;
        tape.grow = mp_refuse_to_grow;
        tape.checks = &checks;
        CHECK(mp_tape_finish(&tape) == MP_OK, "%" PRIu32 ": %d", depth, (int)tape.status);
    }
}

/* Maps at every depth with keys enough for all bits of their notes. */
static void
notes_keys_in_its_memory(void)
{
    enum { BEHIND = 2, MANY = 64 };
    static mp_noted_keys noted[MP_CHECK_NOTED + BEHIND], behind[BEHIND];
    static uint8_t message[MP_CHECK_NOTED + 5 + MANY * 16 + MP_AHEAD];
    const mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true, .noted = noted};
    uint32_t depth, n;

    memset(noted, 0xee, sizeof(noted));
    memset(behind, 0xee, sizeof(behind));
    for (depth = 0; depth <= MP_CHECK_NOTED; depth++) {
        for (n = 2; n <= MANY; n *= 2) {
            size_t size = depth + map_of_names(message + depth, n, 8);
            mp_tape tape = mp_fresh_tape(message, size, 32, MP_TAPE_KEEP);

            memset(message, 0x91, depth);
            tape.grow = mp_grow_by_many;
            tape.checks = &checks;
            CHECK(mp_tape_finish(&tape) == MP_OK, "%" PRIu32 ": %d", depth, (int)tape.status);
            free(tape.entries);
        }
    }
    CHECK(!memcmp(noted + MP_CHECK_NOTED, behind, sizeof(behind)), "what is behind the notes");
}

/* A str in one of its forms: 0 for the shortest. Returns the place after it. */
static uint8_t *
put_str_in_form(uint8_t *p, uint32_t n, uint32_t form)
{
    if (form == 0) p = mp_put_str_head(p, n, false);
    if (form == 1) p = mp_put_head8(p, 0xd9, (uint8_t)n);
    if (form == 2) p = mp_put_head16(p, 0xda, (uint16_t)n);
    if (form == 3) p = mp_put_head32(p, 0xdb, n);
    memset(p, 'k', n);
    return p + n;
}

/* The same key twice, in any two forms, with two values: neither they nor the heads make the keys differ. */
static void
notes_a_key_alike_in_all_its_forms(void)
{
    static mp_noted_keys noted[MP_CHECK_NOTED];
    mp_check checks = {.limits = MP_LIMITS_NONE, .unique_keys = true, .noted = noted};
    uint8_t message[256], *p;
    uint32_t n, forms, round;

    for (n = 0; n <= 40; n++) {
        for (forms = 0; forms < 16; forms++) {
            p = put_str_in_form(mp_put_map_head(message, 2), n, forms / 4);
            p = mp_put_str_head(p, 8, false);
            memset(p, 0, 8);
            p = put_str_in_form(p + 8, n, forms % 4);
            p = mp_put_str_head(p, 8, false);
            memset(p, 0xff, 8);
            memset(p + 8, 0, MP_AHEAD);
            for (round = 0; round < 2; round++) {
                mp_tape tape = mp_fresh_tape(message, (size_t)(p - message) + 8 + MP_AHEAD, 8, MP_TAPE_KEEP);

                checks.limits.string = round ? 40 : UINT32_MAX; /* with the limit it looks at each str */
                tape.grow = mp_grow_by_many;
                tape.checks = &checks;
                CHECK(mp_tape_finish(&tape) == MP_E_DUPLICATE_KEY, "%" PRIu32 " bytes in forms %" PRIu32, n, forms);
                free(tape.entries);
            }
        }
    }
}

/* A byte in the middle of a longer key is read only if the key may be there twice. */
static void
notes_the_first_and_last_eight_bytes(void)
{
    enum { LONGEST = 20 };
    uint32_t n, i;

    for (n = 1; n <= LONGEST; n++) {
        for (i = 0; i < n; i++) {
            uint8_t key[LONGEST] = {0}, other[LONGEST] = {0};

            other[i] = 1;
            CHECK((mp_noted_key_hash(key, n) == mp_noted_key_hash(other, n)) == (i >= 8 && i + 8 < n),
                  "%" PRIu32 " of %" PRIu32, i, n);
        }
    }
}

/* unique.h promises one in 32, whatever was noted before. */
static void
notes_give_an_answer_for_most_maps(void)
{
    enum { MAPS = 5000 };
    mp_noted_keys noted;
    uint64_t state = 1;
    uint32_t n, i, map;

    for (n = 1; n <= 22; n++) {
        uint32_t unknown = 0;

        for (map = 0; map < MAPS; map++) {
            memset(noted.bits, 0xff, sizeof(noted.bits));
            mp_noted_keys_start(&noted, n);
            for (i = 0; i < n; i++) {
                uint8_t key[8];

                state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
                mp_store64(key, state);
                mp_noted_keys_add(&noted, key, sizeof(key));
            }
            unknown += noted.left != 0;
        }
        CHECK(unknown <= MAPS / 32, "%" PRIu32 " of %d maps of %" PRIu32, unknown, MAPS, n);
    }
}

void
mp_test_unique(void)
{
    refuses_keys();
    finds_a_duplicate_among_many();
    sorts_keys_that_look_alike();
    notes_keys_while_it_walks();
    notes_keys_once();
    notes_keys_in_its_memory();
    notes_a_key_alike_in_all_its_forms();
    notes_the_first_and_last_eight_bytes();
    notes_give_an_answer_for_most_maps();
}
