/*
 * The canonical form: must equal the output of a slow writer, from any longer encoding and any order of pairs, and the
 * check must accept nothing else.
 */
#include <limits.h>
#include <setjmp.h>

#include "target.h"

#include "canonical.h"
#include "limit.h"
#include "timestamp.h"
#include "wire.h"

enum { PLACES = 64 };

/* --- a tree of the reference's objects -------------------------------------------------------------- */

typedef struct tree tree;

struct tree {
    mp_plain_head head;
    const uint8_t *at;      /* in the input */
    const uint8_t *payload;
    uint8_t body[MP_TIMESTAMP_MAX]; /* of a timestamp, instead of a payload */
    int8_t ext_type;
    size_t count;           /* objects in a container; keys and values count separately */
    tree *objects;
};

static void *
allocated(size_t n)
{
    void *block = malloc(n ? n : 1);

    if (!block) abort();
    return block;
}

/* Makes the body the shortest. payload is NULL then, because a tree is copied. */
static void
shorten_timestamp(tree *t)
{
    mp_timestamp timestamp;

    mp_timestamp_read(t->payload, (size_t)t->head.n, &timestamp);
    t->head.n = mp_timestamp_put(t->body, timestamp);
    t->payload = NULL;
}

/* The tree of the valid message at *p. */
static tree
tree_of(const uint8_t **p, const uint8_t *end)
{
    tree t = {.head = mp_reference_head(*p, end), .at = *p};
    size_t i;

    t.payload = *p += t.head.size;
    if (t.head.kind == MP_EXT) t.ext_type = (int8_t)t.payload[-1];
    if (t.head.kind == MP_STR || t.head.kind == MP_BIN || t.head.kind == MP_EXT) *p += t.head.n;
    if (t.head.kind == MP_EXT && t.ext_type == MP_TIMESTAMP_TYPE) shorten_timestamp(&t);
    if (t.head.kind == MP_ARRAY) t.count = (size_t)t.head.n;
    if (t.head.kind == MP_MAP) t.count = (size_t)t.head.n * 2;
    t.objects = allocated(t.count * sizeof(tree));
    for (i = 0; i < t.count; i++) t.objects[i] = tree_of(p, end);
    return t;
}

static void
tree_free(tree *t)
{
    size_t i;

    for (i = 0; i < t->count; i++) tree_free(&t->objects[i]);
    free(t->objects);
}

static const uint8_t *
payload_of(const tree *t)
{
    return t->payload ? t->payload : t->body;
}

static bool
integer_p(const tree *t)
{
    return t->head.kind == MP_FIXINT || t->head.kind == MP_UINT || t->head.kind == MP_INT;
}

static bool
real_p(const tree *t)
{
    return t->head.kind == MP_FLOAT32 || t->head.kind == MP_FLOAT64;
}

static bool
negative_p(const tree *t)
{
    return t->head.kind != MP_UINT && t->head.n > INT64_MAX;
}

static double
real_of(const tree *t)
{
    return t->head.kind == MP_FLOAT32 ? (double)mp_float_of_bits((uint32_t)t->head.n) : mp_double_of_bits(t->head.n);
}

static bool
holds_nan_p(const tree *t)
{
    size_t i;

    if (real_p(t)) return real_of(t) != real_of(t);
    for (i = 0; i < t->count; i++)
        if (holds_nan_p(&t->objects[i])) return true;
    return false;
}

/* nil, false, true, integers, floats, strings, ext, arrays, maps */
static int
rank_of(const tree *t)
{
    if (integer_p(t)) return 3;
    if (real_p(t)) return 4;
    switch (t->head.kind) {
      case MP_NIL: return 0;
      case MP_FALSE: return 1;
      case MP_TRUE: return 2;
      case MP_STR:
      case MP_BIN: return 5;
      case MP_EXT: return 6;
      case MP_ARRAY: return 7;
      default: return 8;
    }
}

static int
order_of_bytes(const tree *a, const tree *b)
{
    const uint8_t *p = payload_of(a), *q = payload_of(b);
    uint64_t i;

    for (i = 0; i < a->head.n && i < b->head.n; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return a->head.n == b->head.n ? 0 : a->head.n < b->head.n ? -1 : 1;
}

/* Compares two keys whose maps are sorted. */
static int
order_of(const tree *a, const tree *b)
{
    int order = rank_of(a) - rank_of(b);
    size_t i;

    if (order) return order;
    if (integer_p(a)) {
        if (negative_p(a) != negative_p(b)) return negative_p(a) ? -1 : 1;
        return a->head.n == b->head.n ? 0 : a->head.n < b->head.n ? -1 : 1;
    }
    if (real_p(a)) return real_of(a) == real_of(b) ? 0 : real_of(a) < real_of(b) ? -1 : 1;
    if (rank_of(a) == 5) return order_of_bytes(a, b);
    if (rank_of(a) == 6) return a->ext_type != b->ext_type ? a->ext_type - b->ext_type : order_of_bytes(a, b);
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (i = 0; i < a->count && !order; i++) order = order_of(&a->objects[i], &b->objects[i]);
    return order;
}

static void
swap_pairs(tree *objects, size_t i, size_t j)
{
    tree key = objects[2 * i], value = objects[2 * i + 1];

    objects[2 * i] = objects[2 * j];
    objects[2 * i + 1] = objects[2 * j + 1];
    objects[2 * j] = key;
    objects[2 * j + 1] = value;
}

/* Sorts all maps. False if a key contains NaN or is there twice. */
static bool
sort_maps(tree *t)
{
    bool sound = true;
    size_t i, j;

    for (i = 0; i < t->count; i++) sound &= sort_maps(&t->objects[i]);
    if (t->head.kind != MP_MAP) return sound;
    for (i = 0; i < t->head.n; i++) {
        sound &= !holds_nan_p(&t->objects[2 * i]);
        for (j = i; j && order_of(&t->objects[2 * j], &t->objects[2 * j - 2]) <= 0; j--) {
            sound &= order_of(&t->objects[2 * j], &t->objects[2 * j - 2]) != 0;
            swap_pairs(t->objects, j, j - 1);
        }
    }
    return sound;
}

/*
 * True if container keys are nested deeper than the limits allow. keys counts the open container keys around t; depth
 * the open containers from the outermost of these on.
 */
static bool
keys_too_deep_p(const tree *t, bool key, size_t keys, size_t depth)
{
    bool map = t->head.kind == MP_MAP;
    size_t i;

    if (!t->count) return false;
    keys += key;
    depth += keys > 0;
    if (keys > MP_KEY_NESTING_MAX || depth > MP_KEY_DEPTH_MAX) return true;
    for (i = 0; i < t->count; i++)
        if (keys_too_deep_p(&t->objects[i], map && i % 2 == 0, keys, depth)) return true;
    return false;
}

/* --- writers ---------------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *bytes; /* choices come from them, cyclically; NULL: always the shortest form, in order */
    size_t n, used;
} choices;

static size_t
choose(choices *c, size_t below)
{
    return c->bytes ? c->bytes[c->used++ % c->n] * 31u % 257u % below : 0;
}

static uint8_t *
put_number(uint8_t *to, uint64_t n, size_t width)
{
    while (width--) *to++ = (uint8_t)(n >> (8 * width));
    return to;
}

/* Writes a number with one of the heads for 1, 2, 4 and 8 bytes, in at least a given size. */
static uint8_t *
put_sized(uint8_t *to, const uint8_t heads[4], unsigned count, unsigned least, uint64_t n, choices *c)
{
    unsigned i = least + (unsigned)choose(c, count - least);

    *to++ = heads[i];
    return put_number(to, n, (size_t)1 << i);
}

/* log2 of the number of bytes of a number. */
static unsigned
width_of(uint64_t n)
{
    return n <= UINT8_MAX ? 0 : n <= UINT16_MAX ? 1 : n <= UINT32_MAX ? 2 : 3;
}

static uint8_t *
put_integer(uint8_t *to, const tree *t, choices *c)
{
    static const uint8_t uints[4] = {0xcc, 0xcd, 0xce, 0xcf}, ints[4] = {0xd0, 0xd1, 0xd2, 0xd3};
    uint64_t n = t->head.n;

    if (negative_p(t)) {
        if (n >= UINT64_MAX - 31 && !choose(c, 2)) return put_number(to, n, 1);
        return put_sized(to, ints, 4, width_of(~n * 2), n, c);
    }
    if (n < 128 && !choose(c, 2)) return put_number(to, n, 1);
    if (n <= INT64_MAX && choose(c, 2)) return put_sized(to, ints, 4, width_of(n * 2), n, c);
    return put_sized(to, uints, 4, width_of(n), n, c);
}

static uint8_t *
put_real(uint8_t *to, const tree *t, choices *c)
{
    double d = real_of(t);

    if (d != d) {
        if (choose(c, 2)) return put_number(put_number(to, 0xcb, 1), 0x7ff0000000000001 + choose(c, 99), 8);
        return put_number(put_number(to, 0xca, 1), 0x7fc00000 + choose(c, 99), 4);
    }
    if ((double)(float)d == d && !choose(c, 2)) {
        return put_number(put_number(to, 0xca, 1), mp_bits_of_float((float)d), 4);
    }
    return put_number(put_number(to, 0xcb, 1), mp_bits_of_double(d), 8);
}

/* A head with a length: in the head byte up to most, or after it in 1 (if heads has it), 2 or 4 bytes. */
static uint8_t *
put_length(uint8_t *to, uint8_t fix, uint64_t most, const uint8_t heads[4], const tree *t, choices *c)
{
    unsigned least = width_of(t->head.n);

    if (fix && t->head.n <= most && !choose(c, 2)) return put_number(to, fix | t->head.n, 1);
    if (!heads[0] && !least) least = 1;
    return put_sized(to, heads, 3, least, t->head.n, c);
}

static uint8_t *
put_ext(uint8_t *to, const tree *t, choices *c)
{
    static const uint8_t sizes[4] = {0xc7, 0xc8, 0xc9};
    static const uint8_t fixed[17] = {[1] = 0xd4, [2] = 0xd5, [4] = 0xd6, [8] = 0xd7, [16] = 0xd8};

    if (t->head.n <= 16 && fixed[t->head.n] && !choose(c, 2)) to = put_number(to, fixed[t->head.n], 1);
    else to = put_sized(to, sizes, 3, width_of(t->head.n), t->head.n, c);
    return put_number(to, (uint8_t)t->ext_type, 1);
}

static uint8_t *put_tree(uint8_t *to, tree *t, choices *c);

static uint8_t *
put_payload(uint8_t *to, const tree *t)
{
    if (t->head.n) memcpy(to, payload_of(t), (size_t)t->head.n);
    return to + t->head.n;
}

/* A timestamp with its shortest body or the body of 12 bytes. */
static uint8_t *
put_timestamp(uint8_t *to, const tree *t, choices *c)
{
    tree longer = *t;
    mp_timestamp timestamp;

    if (choose(c, 2)) {
        mp_timestamp_read(t->body, (size_t)t->head.n, &timestamp);
        mp_store32(longer.body, timestamp.nsec);
        mp_store64(longer.body + 4, (uint64_t)timestamp.sec);
        longer.head.n = 12;
    }
    return put_payload(put_ext(to, &longer, c), &longer);
}

/* The pairs of a map in another order. */
static void
shuffle(tree *t, choices *c)
{
    size_t i;

    for (i = t->count / 2; i > 1; i--) swap_pairs(t->objects, i - 1, choose(c, i));
}

static uint8_t *
put_container(uint8_t *to, tree *t, choices *c)
{
    static const uint8_t arrays[4] = {0, 0xdc, 0xdd}, maps[4] = {0, 0xde, 0xdf};
    bool map = t->head.kind == MP_MAP;
    size_t i;

    to = put_length(to, map ? 0x80 : 0x90, 15, map ? maps : arrays, t, c);
    if (map && c->bytes) shuffle(t, c);
    for (i = 0; i < t->count; i++) to = put_tree(to, &t->objects[i], c);
    return to;
}

static uint8_t *
put_tree(uint8_t *to, tree *t, choices *c)
{
    static const uint8_t strs[4] = {0xd9, 0xda, 0xdb}, bins[4] = {0xc4, 0xc5, 0xc6};

    if (integer_p(t)) return put_integer(to, t, c);
    if (real_p(t)) return put_real(to, t, c);
    switch (t->head.kind) {
      case MP_ARRAY:
      case MP_MAP: return put_container(to, t, c);
      case MP_STR: return put_payload(put_length(to, 0xa0, 31, strs, t, c), t);
      case MP_BIN: return put_payload(put_length(to, 0, 0, bins, t, c), t);
      case MP_EXT: return t->payload ? put_payload(put_ext(to, t, c), t) : put_timestamp(to, t, c);
      default: return put_number(to, *t->at, 1);
    }
}

/* --- windows ---------------------------------------------------------------------------------------- */

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
    block = allocated(size * 2 + n);
    if (size) memcpy(block, out->start, size);
    free(w->block);
    w->block = out->start = block;
    out->pos = block + size;
    out->end = out->pos + size + n;
}

static window
window_of(size_t size, unsigned growths)
{
    window w = {.block = allocated(size), .growths_left = growths};

    mp_out_init(&w.out, w.block, size, grow);
    return w;
}

static mp_status
check(const uint8_t *bytes, size_t n, size_t max_depth, size_t *at)
{
    window open = window_of(0, UINT_MAX);
    const uint8_t *start = mp_at_the_edge(bytes, n), *p = start;
    mp_status status = mp_canonical_check(&p, start + n, max_depth, &open.out);

    *at = (size_t)(p - start);
    free(open.block);
    return status;
}

/* MP_E_NO_ROOM if a window left. */
static mp_status
write_or_leave(const uint8_t **p, const uint8_t *end, size_t max_depth, window *open, window *nodes, window *out)
{
    if (setjmp(way_out)) return MP_E_NO_ROOM;
    return mp_canonical_write(p, end, max_depth, &open->out, &nodes->out, &out->out);
}

/* out is the window of the result, which the caller frees; growths counts those of all other windows. */
static mp_status
write_form(const uint8_t *bytes, size_t n, size_t max_depth, unsigned growths, window *out, size_t *at)
{
    window open = window_of(0, growths), nodes = window_of(0, growths);
    const uint8_t *start = mp_at_the_edge(bytes, n), *p = start;
    mp_status status;

    *out = window_of(n + MP_HEAD_MAX, 0);
    status = write_or_leave(&p, start + n, max_depth, &open, &nodes, out);
    *at = (size_t)(p - start);
    free(open.block);
    free(nodes.block);
    return status;
}

/* --- promises --------------------------------------------------------------------------------------- */

static void
same_from_other_forms(tree *t, const uint8_t *bytes, size_t n, const window *canonical)
{
    uint8_t *scrambled = allocated(n * 9 + 64), *end;
    choices c = {.bytes = bytes, .n = n};
    size_t size = mp_out_size(&canonical->out), at, length;
    window again;
    mp_status status;

    end = put_tree(scrambled, t, &c);
    length = (size_t)(end - scrambled);
    if (length <= MP_FUZZ_MAX) {
        status = write_form(scrambled, length, PLACES, UINT_MAX, &again, &at);
        ENSURE(status == MP_OK && at == length, "%d at %zu of %zu", (int)status, at, length);
        ENSURE(mp_out_size(&again.out) == size && !memcmp(again.block, canonical->block, size), "another form");
        free(again.block);
        status = check(scrambled, length, PLACES, &at);
        ENSURE((status == MP_OK) == (length == size && !memcmp(scrambled, canonical->block, size)), "%d", (int)status);
    }
    free(scrambled);
}

/* True if the status is that a key has no canonical form, which the reference does not check. */
static bool
of_a_key_p(mp_status status)
{
    return status == MP_E_NAN_KEY || status == MP_E_DUPLICATE_KEY || status == MP_E_KEY_DEPTH;
}

/* Checks the valid object at bytes. */
static void
canonical_as_the_tree(const uint8_t *bytes, size_t n)
{
    const uint8_t *p = bytes;
    tree t = tree_of(&p, bytes + n);
    bool sound = sort_maps(&t) && !keys_too_deep_p(&t, false, 0, 0);
    size_t at, size;
    window out, refused;
    mp_status status = write_form(bytes, n, PLACES, UINT_MAX, &out, &at), checked;

    ENSURE((status == MP_OK) == sound, "%d at %zu", (int)status, at);
    checked = check(bytes, n, PLACES, &at);
    if (sound) {
        uint8_t *expected = allocated(n + MP_HEAD_MAX);
        choices none = {.bytes = NULL};
        size = (size_t)(put_tree(expected, &t, &none) - expected);
        ENSURE(size == mp_out_size(&out.out) && !memcmp(expected, out.block, size), "%zu bytes", size);
        ENSURE((checked == MP_OK) == (size == n && !memcmp(bytes, out.block, n)), "%d at %zu", (int)checked, at);
        checked = check(out.block, size, PLACES, &at);
        ENSURE(checked == MP_OK && at == size, "%d at %zu", (int)checked, at);
        status = write_form(bytes, n, PLACES, bytes[n - 1] % 4, &refused, &at);
        ENSURE(status == MP_OK || status == MP_E_NO_ROOM, "%d", (int)status);
        ENSURE(status != MP_OK || !memcmp(refused.block, expected, size), "%zu bytes", size);
        free(refused.block);
        free(expected);
        same_from_other_forms(&t, bytes, n, &out);
    } else {
        ENSURE(of_a_key_p(status), "%d", (int)status);
        ENSURE(checked != MP_OK && mp_out_size(&out.out) == 0, "%d at %zu", (int)checked, at);
    }
    free(out.block);
    tree_free(&t);
}

void
mp_fuzz_canonical(const uint8_t *bytes, size_t n)
{
    size_t max_depth, at, stop;
    mp_reference expected;
    mp_status status;
    window out;

    if (n == 0 || n > MP_FUZZ_MAX) return;
    max_depth = bytes[n - 1] % PLACES;
    expected = mp_reference_walk(bytes, bytes + n, max_depth, true);
    stop = (size_t)(expected.at - bytes);
    if (expected.status == MP_OK) {
        canonical_as_the_tree(bytes, stop);
        return;
    }
    status = check(bytes, n, max_depth, &at);
    ENSURE(status != MP_OK && at <= stop, "%d at %zu, reference %d at %zu", (int)status, at, (int)expected.status,
           stop);
    status = write_form(bytes, n, max_depth, UINT_MAX, &out, &at);
    ENSURE(status != MP_OK && mp_out_size(&out.out) == 0, "%d", (int)status);
    ENSURE(of_a_key_p(status) || status == expected.status, "%d, reference %d", (int)status, (int)expected.status);
    free(out.block);
}
