/*
 * The canonical form: all vectors, all longer forms of numbers, values without a form, windows that cannot grow, and
 * messages that are deep or that a careless sort would compare again and again.
 */
#include <setjmp.h>

#include "test.h"

#include "canonical.h"
#include "skip.h"
#include "wire.h"

typedef struct {
    mp_out out;
    uint8_t *block;
    unsigned growths_left; /* before it leaves by longjmp */
} window;

static jmp_buf way_out;

static void
grow(mp_out *out, size_t n)
{
    window *w = (window *)(void *)out;
    size_t size = mp_out_size(out);
    uint8_t *block;

    if (!w->growths_left) longjmp(way_out, 1);
    w->growths_left--;
    block = malloc(size * 2 + n);
    if (!block) abort();
    if (size) memcpy(block, out->start, size);
    free(w->block);
    w->block = out->start = block;
    out->pos = block + size;
    out->end = out->pos + size + n;
}

/* The caller frees it. The first block has room for size bytes. */
static window
window_of(size_t size, unsigned growths)
{
    window w = {.block = malloc(size ? size : 1), .growths_left = growths};

    if (!w.block) abort();
    mp_out_init(&w.out, w.block, size, grow);
    return w;
}

/* Like mp_exact, but leaves no seed, because too many of these messages differ only in a number. */
static uint8_t *
exact(const uint8_t *bytes, size_t n)
{
    uint8_t *block = malloc(n ? n : 1);

    if (!block) abort();
    if (n) memcpy(block, bytes, n);
    return block;
}

static mp_status
check(const uint8_t *bytes, size_t n, size_t max_depth, size_t *at)
{
    window open = window_of(0, 100);
    uint8_t *block = exact(bytes, n);
    const uint8_t *p = block;
    mp_status status = mp_canonical_check(&p, block + n, max_depth, &open.out);

    *at = (size_t)(p - block);
    free(block);
    free(open.block);
    return status;
}

/* The caller frees out. */
static mp_status
write_form(const uint8_t *bytes, size_t n, size_t max_depth, window *out, size_t *at)
{
    window open = window_of(0, 100), nodes = window_of(0, 100);
    uint8_t *block = exact(bytes, n);
    const uint8_t *p = block;
    mp_status status;

    *out = window_of(n + MP_HEAD_MAX, 0);
    status = mp_canonical_write(&p, block + n, max_depth, &open.out, &nodes.out, &out->out);
    *at = (size_t)(p - block);
    free(block);
    free(open.block);
    free(nodes.block);
    return status;
}

/* Checks that bytes become this form, and that only this form is canonical. */
static void
becomes(const uint8_t *bytes, size_t n, const uint8_t *form, size_t size, const char *about)
{
    window out;
    size_t at;
    mp_status status = write_form(bytes, n, 16, &out, &at);
    bool same = mp_out_size(&out.out) == size && !memcmp(out.block, form, size);

    CHECK(status == MP_OK && at == n && same, "%s: %d at %zu", about, (int)status, at);
    free(out.block);
    CHECK(check(form, size, 16, &at) == MP_OK && at == size, "%s: at %zu", about, at);
    status = check(bytes, n, 16, &at);
    CHECK((status == MP_OK) == (n == size && !memcmp(bytes, form, n)), "%s: %d", about, (int)status);
}

/* --- vectors ---------------------------------------------------------------------------------------- */

enum { LINE_MAX_BYTES = 1024 };

/* The value of a member in a line of JSON, without its quotes; false if it is missing or null. */
static bool
member(const char *line, const char *name, char *value)
{
    char quoted[32];
    const char *p;
    size_t n;

    snprintf(quoted, sizeof(quoted), "\"%s\": ", name);
    p = strstr(line, quoted);
    if (!p) return false;
    p += strlen(quoted);
    if (*p != '"') {
        snprintf(value, LINE_MAX_BYTES, "%ld", strtol(p, NULL, 10));
        return *p != 'n';
    }
    n = strcspn(p + 1, "\"");
    memcpy(value, p + 1, n);
    value[n] = 0;
    return true;
}

static size_t
from_hex(const char *hex, uint8_t *bytes)
{
    size_t n;
    unsigned byte;

    for (n = 0; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++) bytes[n] = (uint8_t)byte;
    return n;
}

/* A value without a canonical form, and the text of the status. */
static void
has_no_form(const uint8_t *bytes, size_t n, const char *error, const char *about)
{
    window out;
    size_t at;
    mp_status status = write_form(bytes, n, 16, &out, &at);

    CHECK(!strcmp(mp_status_text(status), error), "%s: %s", about, mp_status_text(status));
    CHECK(mp_out_size(&out.out) == 0, "%s: wrote %zu", about, mp_out_size(&out.out));
    free(out.block);
}

static void
agrees_with_a_vector(const char *line)
{
    char about[LINE_MAX_BYTES], text[LINE_MAX_BYTES], at_text[LINE_MAX_BYTES];
    uint8_t bytes[LINE_MAX_BYTES], form[LINE_MAX_BYTES];
    size_t n, at;
    mp_status status;

    CHECK(member(line, "about", about) && member(line, "input", text), "%s", line);
    n = from_hex(text, bytes);
    free(mp_exact(bytes, n)); /* a seed */
    if (member(line, "canonical", text)) becomes(bytes, n, form, from_hex(text, form), about);
    else if (member(line, "error", text)) has_no_form(bytes, n, text, about);
    else CHECK(false, "%s", about);
    status = check(bytes, n, 16, &at);
    if (!member(line, "why", text) || !member(line, "at", at_text)) strcpy(text, "ok");
    CHECK(!strcmp(mp_status_text(status), text), "%s: %s", about, mp_status_text(status));
    if (status != MP_OK) CHECK((long)at == strtol(at_text, NULL, 10), "%s: at %zu", about, at);
}

static void
agrees_with_every_vector(void)
{
    char line[LINE_MAX_BYTES];
    FILE *file = fopen(MP_VECTORS "/canonical.json", "r");
    int vectors = 0;

    if (!file) abort();
    while (fgets(line, sizeof(line), file)) {
        if (line[0] != '{') continue;
        agrees_with_a_vector(line);
        vectors++;
    }
    fclose(file);
    CHECK(vectors > 100, "%d vectors", vectors);
}

/* --- numbers ---------------------------------------------------------------------------------------- */

/* Every form of an integer; of integers from 2^63 on only some. */
static void
has_one_form(uint64_t n, bool negative)
{
    static const uint8_t heads[] = {0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3};
    uint8_t form[MP_HEAD_MAX], bytes[MP_HEAD_MAX];
    size_t size = (size_t)((negative ? mp_put_sint(form, (int64_t)n) : mp_put_uint(form, n)) - form), i;
    int forms = 0;

    for (i = 0; i < sizeof(heads); i++) {
        unsigned width = 1u << (i % 4), unused = 64 - 8 * width;
        bool with_sign = i >= 4;
        uint64_t back = n << unused;

        if (negative && !with_sign) continue;
        if (!negative && with_sign && n > INT64_MAX) continue;
        back = with_sign ? (uint64_t)((int64_t)back >> unused) : back >> unused;
        if (back != n) continue;
        mp_store64(bytes + 1, n << unused);
        bytes[0] = heads[i];
        becomes(bytes, width + 1, form, size, "an integer");
        forms++;
    }
    CHECK(forms > 0, "%" PRIx64, n);
    becomes(form, size, form, size, "the shortest form");
}

static void
integers_have_one_form(void)
{
    uint64_t around;
    int offset;

    for (around = 1; around; around <<= 1) {
        for (offset = -2; offset <= 2; offset++) {
            uint64_t n = around + (uint64_t)(int64_t)offset;
            has_one_form(n, false);
            if (n <= INT64_MAX && n) has_one_form(0 - n, true);
        }
    }
    has_one_form(UINT64_C(1) << 63, true);
}

/* Every sign and exponent and seven bits of the mantissa of a float32, and the float64 beside it. */
static void
floats_have_one_form(void)
{
    uint32_t high;

    for (high = 0; high <= 0xffff; high++) {
        uint8_t narrow[MP_HEAD_MAX], wide[MP_HEAD_MAX], nan[MP_HEAD_MAX];
        float f = mp_float_of_bits(high << 16);
        uint64_t bits = mp_bits_of_double((double)f);

        mp_put_float32(narrow, f);
        mp_put_float64(wide, (double)f);
        mp_put_head32(nan, 0xca, 0x7fc00000);
        becomes(narrow, 5, f == f ? narrow : nan, 5, "a float32");
        becomes(wide, 9, f == f ? narrow : nan, 5, "a float64 that is one");
        if ((bits & INT64_MAX) == UINT64_C(0x7ff0000000000000)) continue; /* the next is NaN */
        mp_put_head64(wide, 0xcb, bits + 1);
        if (f == f) becomes(wide, 9, wide, 9, "a float64");
        else becomes(wide, 9, nan, 5, "NaN");
    }
}

/* --- refused values --------------------------------------------------------------------------------- */

/* {"a": [1, -33, nil, bin], "bc": {1: ext, 1.5: timestamp}, "e": str8, {[]: true}: 0} */
static const char sample[] =
    "\x84\xa1" "a" "\x94\x01\xd0\xdf\xc0\xc4\x03" "xyz"
    "\xa2" "bc" "\x82\x01\xd8\x05" "0123456789abcdef" "\xca\x3f\xc0\x00\x00\xd6\xff\x00\x00\x00\x01"
    "\xa1" "e" "\xd9\x20" "0123456789abcdef0123456789abcdef"
    "\x81\x90\xc3\x00";

static void
refuses_every_prefix_and_0xc1_anywhere(void)
{
    size_t n = sizeof(sample) - 1, i, at;
    window out;

    becomes((const uint8_t *)sample, n, (const uint8_t *)sample, n, "the sample");
    for (i = 0; i < n; i++) {
        CHECK(check((const uint8_t *)sample, i, 8, &at) == MP_E_TRUNCATED && at <= i, "%zu", i);
        CHECK(write_form((const uint8_t *)sample, i, 8, &out, &at) == MP_E_TRUNCATED && at <= i, "%zu", i);
        free(out.block);
    }
    for (i = 0; i < n; i++) {
        uint8_t bytes[sizeof(sample)];
        uint64_t left[8];
        const uint8_t *p = bytes;
        mp_walk walk;
        mp_status expected, status;

        memcpy(bytes, sample, n);
        bytes[i] = 0xc1;
        mp_walk_init(&walk, left, 8);
        expected = mp_skip(&walk, &p, bytes + n);
        status = write_form(bytes, n, 8, &out, &at);
        CHECK(status == expected || (expected == MP_OK && status == MP_E_UTF8), "%zu: %d at %zu", i, (int)status, at);
        CHECK(expected != MP_E_BAD_HEAD || at == (size_t)(p - bytes), "%zu: at %zu", i, at);
        free(out.block);
        CHECK(status == MP_OK || check(bytes, n, 8, &at) != MP_OK, "%zu", i);
    }
}

static void
counts_open_containers(void)
{
    const uint8_t *deep = (const uint8_t *)"\x91\x81\x91\xc0\x91\x90";
    size_t at;
    window out;

    CHECK(check(deep, 6, 3, &at) == MP_OK && at == 6, "%zu", at);
    CHECK(check(deep, 6, 2, &at) == MP_E_DEPTH && at == 2, "%zu", at);
    CHECK(write_form(deep, 6, 2, &out, &at) == MP_E_DEPTH && at == 2, "%zu", at);
    free(out.block);
}

static void
blames_the_key_that_comes_later(void)
{
    static const uint8_t bytes[] = "\x83\xa1" "a\x01\xa1" "b\x02\xa1" "a\x03";
    size_t at;
    window out;

    CHECK(write_form(bytes, sizeof(bytes) - 1, 8, &out, &at) == MP_E_DUPLICATE_KEY && at == 7, "at %zu", at);
    free(out.block);
}

/* The second key is the first with its pairs in order. */
static void
compares_keys_by_their_forms(void)
{
    static const uint8_t bytes[] = "\x82\x82\x02\x00\x01\x05\xc0\x82\x01\x05\x02\x00\xc0";
    size_t at;
    window out;

    CHECK(write_form(bytes, sizeof(bytes) - 1, 8, &out, &at) == MP_E_DUPLICATE_KEY && at == 7, "at %zu", at);
    free(out.block);
}

/* Many maps; only the last changes. */
static void
keeps_no_nodes_of_ordered_maps(void)
{
    enum { MAPS = 1000 };
    static uint8_t bytes[3 + MAPS * 5];
    window open = window_of(0, 20), nodes = window_of(0, 20), out = window_of(sizeof(bytes) + MP_HEAD_MAX, 0);
    const uint8_t *at = bytes;
    uint8_t *p = mp_put_array_head(bytes, MAPS);
    int i;

    for (i = 0; i < MAPS; i++, p += 5) memcpy(p, "\x82\x01\x00\x02\x00", 5);
    p[-4] = 0x03;
    CHECK(mp_canonical_write(&at, p, 8, &open.out, &nodes.out, &out.out) == MP_OK, "at %td", at - bytes);
    CHECK(mp_out_size(&nodes.out) < 256 && nodes.out.end - nodes.out.start < 1024, "%zu", mp_out_size(&nodes.out));
    p = out.out.pos;
    CHECK(p[-4] == 0x02 && p[-2] == 0x03, "%02x %02x", p[-4], p[-2]);
    free(open.block);
    free(nodes.block);
    free(out.block);
}

/* Checks or writes. MP_E_NO_ROOM if a window left. */
static mp_status
attempt(const uint8_t **p, const uint8_t *end, window *windows, bool write)
{
    if (setjmp(way_out)) return MP_E_NO_ROOM;
    if (!write) return mp_canonical_check(p, end, 8, &windows[0].out);
    return mp_canonical_write(p, end, 8, &windows[0].out, &windows[1].out, &windows[2].out);
}

/*
 * Lets a window leave at one of its growths, then tries again in the same windows with enough room. False if there is
 * no such growth.
 */
static bool
leaves_at(unsigned growth, unsigned which, bool write)
{
    static const char bytes[] = "\x82\xa1" "b" "\x82\x02\x92\x80\xc0\x01\x90\xa1" "a" "\x82\xc2\xc0\xc0\xc2";
    static const char form[] = "\x82\xa1" "a" "\x82\xc0\xc2\xc2\xc0\xa1" "b" "\x82\x01\x90\x02\x92\x80\xc0";
    size_t n = sizeof(bytes) - 1;
    uint8_t *block = mp_exact(bytes, n);
    const uint8_t *p = block;
    mp_status status, expected = write ? MP_OK : MP_E_KEY_ORDER;
    window windows[3];
    unsigned i;
    bool left;

    for (i = 0; i < 3; i++) windows[i] = window_of(0, i == which ? growth : 20);
    status = attempt(&p, block + n, windows, write);
    left = status == MP_E_NO_ROOM;
    CHECK(left ? p == block : status == expected, "%d, window %u, growth %u", (int)status, which, growth);
    CHECK(!memcmp(block, bytes, n), "window %u, growth %u: the input", which, growth);
    for (i = 0; i < 3; i++) windows[i].growths_left = 20;
    windows[2].out.pos = windows[2].out.start;
    p = block;
    status = attempt(&p, block + n, windows, write);
    CHECK(status == expected, "%d, window %u, growth %u: goes on", (int)status, which, growth);
    if (write) CHECK(!memcmp(windows[2].block, form, n), "window %u, growth %u: the form", which, growth);
    for (i = 0; i < 3; i++) free(windows[i].block);
    free(block);
    return left;
}

/* Lets each window leave at its first growth, its second and so on: nothing may leak or break. */
static void
can_be_left_at_every_growth(void)
{
    unsigned growth, which;

    for (which = 0; which < 3; which++) {
        for (growth = 0; leaves_at(growth, which, true); growth++) continue;
        CHECK(growth > 1 && growth < 20, "window %u: %u", which, growth);
    }
    for (growth = 0; leaves_at(growth, 0, false); growth++) continue;
    CHECK(growth > 1 && growth < 20, "a check: %u", growth);
}

/*
 * The working memory of a call can be used for the next; out is appended to. The second message is where the first was,
 * but its keys are in order.
 */
static void
windows_are_used_again(void)
{
    uint8_t bytes[] = "\x82\x02\x00\x01\x00";
    window open = window_of(0, 20), nodes = window_of(0, 20), out = window_of(0, 20);
    int i;

    for (i = 0; i < 3; i++) {
        const uint8_t *p = bytes;
        CHECK(mp_canonical_write(&p, bytes + 5, 8, &open.out, &nodes.out, &out.out) == MP_OK, "%d", i);
        memcpy(bytes, "\x82\x01\x00\x02\x00", 5);
    }
    CHECK(mp_out_size(&out.out) == 15, "%zu", mp_out_size(&out.out));
    for (i = 0; i < 15; i += 5) CHECK(!memcmp(out.out.start + i, "\x82\x01\x00\x02\x00", 5), "at %d", i);
    free(open.block);
    free(nodes.block);
    free(out.block);
}

/* --- depth and length ------------------------------------------------------------------------------- */

enum { DEEP = 100000 };

/* Large messages must not take seconds. They are no seeds. */
static void
changes_once(uint8_t *bytes, size_t n, const char *about)
{
    window open = window_of(0, 100), nodes = window_of(0, 100), out = window_of(n + MP_HEAD_MAX, 0);
    window twice = window_of(n + MP_HEAD_MAX, 0);
    const uint8_t *p = bytes;
    mp_status status = mp_canonical_write(&p, bytes + n, DEEP, &open.out, &nodes.out, &out.out);

    CHECK(status == MP_OK && p == bytes + n && mp_out_size(&out.out) == n, "%s: %d", about, (int)status);
    p = bytes;
    CHECK(mp_canonical_check(&p, bytes + n, DEEP, &open.out) != MP_OK, "%s", about);
    p = out.block;
    status = mp_canonical_check(&p, p + n, DEEP, &open.out);
    CHECK(status == MP_OK && p == out.block + n, "%s: %d", about, (int)status);
    p = out.block;
    status = mp_canonical_write(&p, p + n, DEEP, &open.out, &nodes.out, &twice.out);
    CHECK(status == MP_OK && !memcmp(out.block, twice.block, n), "%s: %d", about, (int)status);
    free(open.block);
    free(nodes.block);
    free(out.block);
    free(twice.block);
}

/* DEEP levels: the bytes of each before and after the next level. */
static void
nests(const char *before, size_t n, const char *after, size_t m, const char *about)
{
    uint8_t *bytes = malloc(DEEP * (n + m) + 1);
    size_t i;

    if (!bytes) abort();
    for (i = 0; i < DEEP; i++) {
        memcpy(bytes + i * n, before, n);
        memcpy(bytes + DEEP * n + 1 + i * m, after, m);
    }
    bytes[DEEP * n] = 0xc0;
    changes_once(bytes, DEEP * (n + m) + 1, about);
    free(bytes);
}

static void
depth_costs_neither_stack_nor_time(void)
{
    nests("\x82\x02", 2, "\x01\x00", 2, "values, in maps out of order");
}

/* Checks `count` maps, each the key of the map around it. */
static mp_status
check_keys_in_keys(size_t count)
{
    uint8_t bytes[40];
    size_t at;

    memset(bytes, 0x81, count);
    memset(bytes + count, 0xc0, count + 1);
    return check(bytes, count * 2 + 1, 100, &at);
}

/* docs/canonical.md promises the numbers. */
static void
keys_are_nested_as_readers_allow(void)
{
    uint8_t key[40] = {0x81};
    size_t at, depth, count;

    for (count = 2; count < 9; count++) {
        mp_status status = check_keys_in_keys(count);
        CHECK(status == (count - 1 <= 4 ? MP_OK : MP_E_KEY_DEPTH), "%zu: %d", count, (int)status);
    }
    for (depth = 1; depth < 36; depth++) {
        memset(key + 1, 0x91, depth);
        key[depth + 1] = key[depth + 2] = 0xc0;
        CHECK(check(key, depth + 3, 100, &at) == (depth <= 32 ? MP_OK : MP_E_KEY_DEPTH), "%zu", depth);
    }
}

/* A map that is a key, with two such keys of one level less that differ only in their last value. */
static uint8_t *
put_tree_of_keys(uint8_t *p, int levels, uint8_t last)
{
    if (!levels) return mp_put_uint(p, last);
    p = mp_put_map_head(p, 2);
    p = mp_put_nil(put_tree_of_keys(p, levels - 1, 1));
    return mp_put_uint(put_tree_of_keys(p, levels - 1, 0), last);
}

static void
compares_keys_in_keys_once_a_level(void)
{
    enum { LEVELS = MP_KEY_NESTING_MAX + 1 };
    uint8_t *bytes = malloc((size_t)4 << LEVELS);

    if (!bytes) abort();
    changes_once(bytes, (size_t)(put_tree_of_keys(bytes, LEVELS, 0) - bytes), "a tree of keys");
    free(bytes);
}

/* Two keys that differ in their last byte, among many short keys in the wrong order. */
static void
compares_long_keys_seldom(void)
{
    enum { LONG = 1000000, SHORT = 300000 };
    uint8_t *bytes = malloc(5 + SHORT * 6 + 2 * (5 + LONG + 1)), *p;
    uint32_t i;

    if (!bytes) abort();
    p = mp_put_map_head(bytes, SHORT + 2);
    for (i = 0; i < SHORT; i++) {
        if (i == SHORT / 3 || i == SHORT / 2) {
            p = mp_put_str_head(p, LONG, false);
            memset(p, 'x', LONG);
            p[LONG - 1] = i == SHORT / 2 ? 'a' : 'b';
            p = mp_put_nil(p + LONG);
        }
        p = mp_put_nil(mp_put_uint(p, SHORT - i));
    }
    changes_once(bytes, (size_t)(p - bytes), "two long keys");
    free(bytes);
}

/* --- documents that the fuzz target makes longer and shuffles ------------------------------------------ */

typedef struct {
    uint64_t state;
    uint8_t bytes[4096], *p;
} document;

static uint32_t
random_below(document *d, uint32_t n)
{
    d->state = d->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(d->state >> 33) % n;
}

/* Few and small keys, so that sometimes, but not often, a key comes twice. */
static void
add_object(document *d, int levels)
{
    static const uint8_t text[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    uint32_t kind = random_below(d, levels ? 11 : 9), n = random_below(d, 5), i;

    switch (kind) {
      case 0: d->p = mp_put_nil(d->p); break;
      case 1: d->p = mp_put_bool(d->p, n & 1); break;
      case 2: d->p = mp_put_sint(d->p, (int64_t)(d->state >> random_below(d, 64)) - 100); break;
      case 3: d->p = mp_put_float32(d->p, (float)n / 2); break;
      case 4: d->p = mp_put_float64(d->p, (double)random_below(d, 1000) / 7); break;
      case 5:
      case 6:
      case 7:
      case 8:
        n = random_below(d, 8) ? n : 48;
        if (kind < 7) d->p = mp_put_str_head(d->p, n, false);
        else if (kind == 7) d->p = mp_put_bin_head(d->p, n);
        else d->p = mp_put_ext_head(d->p, n == 4 ? -1 : (int8_t)random_below(d, 3), n);
        memcpy(d->p, text + random_below(d, 4), n);
        d->p += n;
        break;
      case 9:
        d->p = mp_put_array_head(d->p, n);
        for (i = 0; i < n; i++) add_object(d, levels - 1);
        break;
      default:
        d->p = mp_put_map_head(d->p, n);
        for (i = 0; i < 2 * n; i++) add_object(d, levels - 1);
        break;
    }
}

static void
writes_once_what_it_wrote(void)
{
    document d;
    unsigned seed, forms = 0;

    for (seed = 0; seed < 400; seed++) {
        window out;
        size_t at, n;

        d.state = seed;
        d.p = mp_put_map_head(d.bytes, 3);
        for (n = 0; n < 3; n++) {
            d.p = mp_put_uint(d.p, 200 - n);
            add_object(&d, 3);
        }
        n = (size_t)(d.p - d.bytes);
        free(mp_exact(d.bytes, n)); /* a seed */
        if (write_form(d.bytes, n, 8, &out, &at) == MP_OK) {
            forms++;
            becomes(d.bytes, n, out.block, mp_out_size(&out.out), "a document");
        }
        free(out.block);
    }
    CHECK(forms > 200, "%u documents of 400 have a form", forms);
}

void
mp_test_canonical(void)
{
    agrees_with_every_vector();
    integers_have_one_form();
    floats_have_one_form();
    refuses_every_prefix_and_0xc1_anywhere();
    counts_open_containers();
    blames_the_key_that_comes_later();
    compares_keys_by_their_forms();
    keeps_no_nodes_of_ordered_maps();
    can_be_left_at_every_growth();
    windows_are_used_again();
    depth_costs_neither_stack_nor_time();
    keys_are_nested_as_readers_allow();
    compares_keys_in_keys_once_a_level();
    compares_long_keys_seldom();
    writes_once_what_it_wrote();
}
