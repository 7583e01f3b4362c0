/*
 * The canonical form: the first walk checks the object and finds the order of keys, the second writes in that order.
 * The first is like the walk of skip.c, but also keeps the previous key of each open map, to compare the next key with
 * it, and the offsets of its pairs, to sort them. The second jumps back and forth from pair to pair.
 */
#include "canonical.h"

#include "limit.h"
#include "timestamp.h"
#include "utf8.h"
#include "wire.h"

/* --- one object ------------------------------------------------------------------------------------- */

typedef struct {
    mp_head head;                     /* the payload of a timestamp is its shortest body */
    const uint8_t *at, *next;         /* its head; the byte after the head and the payload */
    uint8_t timestamp[MP_TIMESTAMP_MAX];
} object;

static mp_status
shorten_timestamp(object *o)
{
    mp_timestamp timestamp;
    mp_status status = mp_timestamp_read(o->head.payload, o->head.n, &timestamp);

    if (status != MP_OK) return status;
    o->head.n = (uint32_t)mp_timestamp_put(o->timestamp, timestamp);
    o->head.payload = o->timestamp;
    return MP_OK;
}

/* Reads an object without its contents. Checks whether it is well formed, except for UTF-8. */
MP_INLINE mp_status
object_read(const uint8_t *p, const uint8_t *end, object *o)
{
    mp_status status = mp_head_over(p, end, &o->head, &o->next);

    if (MP_UNLIKELY(status != MP_OK)) return status;
    o->at = p;
    return o->head.kind == MP_EXT && o->head.ext_type == MP_TIMESTAMP_TYPE ? shorten_timestamp(o) : MP_OK;
}

MP_INLINE bool
real_p(const object *o)
{
    return o->head.kind == MP_FLOAT32 || o->head.kind == MP_FLOAT64;
}

MP_INLINE double
real_of(const object *o)
{
    return mp_row_real(o->at, MP_WIRE[*o->at]);
}

/* The 64 bits of an integer. Sets *negative if they are those of a negative number. */
static uint64_t
integer_of(const object *o, bool *negative)
{
    mp_wire_row row = MP_WIRE[*o->at];
    int64_t n;

    *negative = false;
    if (row.kind == MP_UINT) return mp_row_uint(o->at, row);
    n = mp_row_sint(o->at, row);
    *negative = n < 0;
    return (uint64_t)n;
}

MP_INLINE bool
nan_p(const object *o)
{
    double d;

    if (!real_p(o)) return false;
    d = real_of(o);
    return d != d;
}

/*
 * Writes a float32 if that keeps the value, otherwise a float64; all NaNs become the same one. Compares bits, because
 * an x87 computes with more precision.
 */
static uint8_t *
put_real(uint8_t *to, double d)
{
    float f;

    if (d != d) return mp_put_head32(to, 0xca, 0x7fc00000);
    f = mp_float_of_bits(mp_bits_of_float((float)d));
    return (double)f == d ? mp_put_float32(to, f) : mp_put_float64(to, d);
}

static uint8_t *
put_integer(uint8_t *to, const object *o)
{
    bool negative;
    uint64_t n = integer_of(o, &negative);

    return negative ? mp_put_sint(to, (int64_t)n) : mp_put_uint(to, n);
}

/* Writes the canonical head of an object. */
static uint8_t *
put_head(uint8_t *to, const object *o)
{
    switch (o->head.kind) {
      case MP_STR: return mp_put_str_head(to, o->head.n, false);
      case MP_BIN: return mp_put_bin_head(to, o->head.n);
      case MP_EXT: return mp_put_ext_head(to, o->head.ext_type, o->head.n);
      case MP_ARRAY: return mp_put_array_head(to, o->head.n);
      case MP_MAP: return mp_put_map_head(to, o->head.n);
      case MP_FLOAT32:
      case MP_FLOAT64: return put_real(to, real_of(o));
      case MP_UINT:
      case MP_INT: return put_integer(to, o);
      default: return mp_put_byte(to, *o->at); /* one byte has only one form */
    }
}

/* True if the head of an object is canonical. That of a timestamp that could be shorter is not. */
static bool
canonical_p(const object *o)
{
    size_t size = MP_WIRE[*o->at].head;
    uint8_t head[MP_HEAD_MAX];

    if (size == 1) return true;
    return (size_t)(put_head(head, o) - head) == size && !memcmp(head, o->at, size);
}

/* --- the canonical sequence ------------------------------------------------------------------------- */

/*
 * The nodes are the maps whose pairs are reordered, the maps around them, and all pairs of both. They form a tree: a
 * map holds pairs, and a pair holds maps, with any number of arrays in between. A link is twice the index of a node,
 * plus UP if it leads back to the node that holds the list.
 */
typedef struct {
    const uint8_t *start, *end; /* of a pair; for a map, start is after its head */
    size_t next;                /* a pair: the next in order, or UP to the map; a map: the next, or UP to the pair */
    size_t inner;               /* a pair: the first map in it, or UP to itself; a map: its first pair */
} node;

enum { UP = 1 };

/* The node of the only pair that is outside all maps. */
enum { ROOT = 0 };

MP_INLINE size_t
link_to(size_t index)
{
    return index * 2;
}

MP_INLINE size_t
link_up_to(size_t index)
{
    return index * 2 + UP;
}

/* A position in the bytes that visits objects in canonical order. */
typedef struct {
    const uint8_t *p;
    const uint8_t *turn; /* where it jumps instead of continuing; NULL without nodes */
    size_t link;         /* at turn: down into the map that begins there, or UP from the pair that ends there */
} cursor;

MP_INLINE void
cursor_set(cursor *c, const node *nodes, const uint8_t *p, size_t link)
{
    c->p = p;
    c->link = link;
    c->turn = NULL;
    if (nodes) c->turn = link & UP ? nodes[link / 2].end : nodes[link / 2].start;
}

MP_INLINE void
cursor_enter(cursor *c, const node *nodes, size_t pair_link)
{
    const node *pair = &nodes[pair_link / 2];

    cursor_set(c, nodes, pair->start, pair->inner);
}

/* Jumps to the next object in canonical order, unless that is the next one in the bytes. */
MP_INLINE void
cursor_turn(cursor *c, const node *nodes)
{
    while (c->p == c->turn) {
        const node *reached = &nodes[c->link / 2];

        if (!(c->link & UP)) {
            cursor_enter(c, nodes, reached->inner);
        } else if (!(reached->next & UP)) {
            cursor_enter(c, nodes, reached->next);
        } else {
            const node *map = &nodes[reached->next / 2];
            cursor_set(c, nodes, map->end, map->next);
        }
    }
}

/* --- the order of keys ------------------------------------------------------------------------------ */

/* The type of a kind, as the first kind of that type: all integers have one type, all floats, and str and bin. */
static mp_kind
type_of(mp_kind kind)
{
    switch (kind) {
      case MP_UINT:
      case MP_INT: return MP_FIXINT;
      case MP_FLOAT64: return MP_FLOAT32;
      case MP_BIN: return MP_STR;
      default: return kind;
    }
}

static int
compare_integers(const object *a, const object *b)
{
    bool a_negative, b_negative;
    uint64_t m = integer_of(a, &a_negative), n = integer_of(b, &b_negative);

    if (a_negative != b_negative) return a_negative ? -1 : 1;
    return (m > n) - (m < n);
}

static int
compare_reals(double d, double e)
{
    return (d > e) - (d < e);
}

static int
compare_payloads(const mp_head *a, const mp_head *b)
{
    uint32_t n = a->n < b->n ? a->n : b->n;
    int order = n ? memcmp(a->payload, b->payload, n) : 0;

    return order ? order : (a->n > b->n) - (a->n < b->n);
}

/* Compares two objects without their contents: negative if a comes first, 0 if they are equal. */
static int
compare_objects(const object *a, const object *b)
{
    mp_kind type = type_of(a->head.kind);
    int order = (int)type - (int)type_of(b->head.kind);

    if (order) return order;
    switch (type) {
      case MP_FIXINT: return compare_integers(a, b);
      case MP_FLOAT32: return compare_reals(real_of(a), real_of(b));
      case MP_STR: return compare_payloads(&a->head, &b->head);
      case MP_EXT:
        order = a->head.ext_type - b->head.ext_type;
        return order ? order : compare_payloads(&a->head, &b->head);
      default: return (a->head.n > b->head.n) - (a->head.n < b->head.n);
    }
}

MP_INLINE bool
fixstr_p(const uint8_t *p)
{
    return (*p & 0xe0) == 0xa0;
}

/* Most keys are short strings: packing rows in canonical form takes 1.33 times as long without this. */
static int
compare_fixstrs(const uint8_t *a, const uint8_t *b)
{
    int order = memcmp(a + 1, b + 1, (*a < *b ? *a : *b) & MP_FIXSTR_MAX);

    return order ? order : *a - *b;
}

/* Compares two keys that the walk has passed: the first objects that differ, in canonical order, decide. */
static int
compare_keys(cursor a, cursor b, const node *nodes, const uint8_t *end)
{
    uint64_t left = 1;
    int order = 0;

    if (fixstr_p(a.p) && fixstr_p(b.p)) return compare_fixstrs(a.p, b.p);
    while (left && !order) {
        object x, y;

        cursor_turn(&a, nodes);
        cursor_turn(&b, nodes);
        if (object_read(a.p, end, &x) != MP_OK || object_read(b.p, end, &y) != MP_OK) return 0;
        order = compare_objects(&x, &y);
        a.p = x.next;
        b.p = y.next;
        left += mp_declared_objects(x.head.kind, x.head.n) - 1;
    }
    return order;
}

/* --- the walk --------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t left;        /* objects still to come; in a map a key is next if this is even */
    const uint8_t *key;   /* the last key that began */
    cursor previous;      /* the previous key; p is NULL before the first */
    size_t map;           /* the index of its node; the node of its first pair follows */
    size_t pair, tail;    /* of the walk, before the container was opened */
    uint32_t n;           /* pairs or elements */
    bool map_p, unordered;
    uint8_t keys;         /* open container keys, this one included */
    uint8_t key_depth;    /* open containers from the outermost of these keys inwards */
} frame;

typedef struct {
    const uint8_t *p, *end;
    size_t max_depth;
    mp_out *open;         /* frames; the outermost frame is not a container: it holds the object */
    mp_out *nodes;        /* NULL in a check */
    size_t pair;          /* the innermost open pair */
    size_t tail;          /* the last map in that pair; the pair itself while there is none */
} walk;

MP_INLINE frame *
innermost(const walk *w)
{
    return (frame *)(void *)w->open->pos - 1;
}

MP_INLINE size_t
depth_of(const walk *w)
{
    return mp_out_size(w->open) / sizeof(frame) - 1;
}

MP_INLINE node *
nodes_of(const walk *w)
{
    return w->nodes ? (node *)(void *)w->nodes->start : NULL;
}

MP_INLINE size_t
node_count(const walk *w)
{
    return mp_out_size(w->nodes) / sizeof(node);
}

/* Adds an empty node that starts at p. */
static void
node_push(walk *w, const uint8_t *p)
{
    node added = {.start = p, .inner = link_up_to(node_count(w))};

    mp_out_write(w->nodes, &added, sizeof(added));
}

static void
key_begins(walk *w, frame *f)
{
    size_t pair;

    f->key = w->p;
    if (!w->nodes) return;
    pair = node_count(w);
    node_push(w, w->p);
    if (f->previous.p) nodes_of(w)[w->pair].next = link_to(pair);
    w->pair = w->tail = pair;
}

/* Compares the key that ends here with the previous one. */
static mp_status
key_ends(walk *w, frame *f)
{
    const node *nodes = nodes_of(w);
    cursor key;
    int order;

    cursor_set(&key, nodes, f->key, nodes ? nodes[w->pair].inner : 0);
    order = f->previous.p ? compare_keys(f->previous, key, nodes, w->end) : -1;
    f->previous = key;
    if (order < 0) return MP_OK;
    f->unordered = true;
    if (order && nodes) return MP_OK;
    w->p = f->key;
    return order ? MP_E_KEY_ORDER : MP_E_DUPLICATE_KEY;
}

/* Merges two lists of pairs that end with the same link; a is before b in the bytes. A duplicate key stops the walk. */
static mp_status
merge(walk *w, size_t a, size_t b, size_t *merged)
{
    node *nodes = nodes_of(w);
    cursor x, y;

    for (;;) {
        size_t *smaller;
        int order;

        cursor_enter(&x, nodes, a);
        cursor_enter(&y, nodes, b);
        order = compare_keys(x, y, nodes, w->end);
        if (!order) {
            w->p = y.p;
            return MP_E_DUPLICATE_KEY;
        }
        smaller = order < 0 ? &a : &b;
        *merged = *smaller;
        merged = &nodes[*smaller / 2].next;
        *smaller = *merged;
        if (*smaller & UP) {
            *merged = order < 0 ? b : a;
            return MP_OK;
        }
    }
}

/* A sort has at most this many runs: of 1, 2, 4 … pairs. */
enum { RUNS = 33 };

/* Merges all runs, shorter runs first. */
static mp_status
merge_runs(walk *w, const size_t *runs, size_t *sorted)
{
    mp_status status = MP_OK;
    size_t i;

    *sorted = 0;
    for (i = 0; i < RUNS && status == MP_OK; i++) {
        if (!runs[i]) continue;
        if (*sorted) status = merge(w, runs[i], *sorted, sorted);
        else *sorted = runs[i];
    }
    return status;
}

/*
 * Sorts the pairs of a map by merging, because each comparison places one pair. A heap could compare the same two long
 * keys once for every short key. *first is the link to the first pair, before and after.
 */
static mp_status
sort_pairs(walk *w, size_t map, size_t *first)
{
    size_t runs[RUNS] = {0}; /* no pair has the link 0, which is the root's */
    size_t rest = *first;
    mp_status status;

    while (!(rest & UP)) {
        node *pair = &nodes_of(w)[rest / 2];
        size_t run = rest, i;

        rest = pair->next;
        pair->next = link_up_to(map);
        for (i = 0; runs[i]; i++) {
            status = merge(w, runs[i], run, &run);
            if (status != MP_OK) return status;
            runs[i] = 0;
        }
        runs[i] = run;
    }
    return merge_runs(w, runs, first);
}

/* Closes a map. Keeps its nodes only if something inside it is reordered. */
static mp_status
map_ends(walk *w, const frame *f)
{
    node *nodes = nodes_of(w), *map = &nodes[f->map];
    size_t first = link_to(f->map + 1);
    mp_status status = MP_OK;

    if (!f->unordered && node_count(w) - f->map - 1 == f->n) {
        w->nodes->pos = (uint8_t *)map;
        w->tail = f->tail;
    } else {
        nodes[w->pair].next = link_up_to(f->map);
        if (f->unordered) status = sort_pairs(w, f->map, &first);
        *map = (node){.start = map->start, .end = w->p, .next = link_up_to(f->pair), .inner = first};
        if (f->tail == f->pair) nodes[f->pair].inner = link_to(f->map);
        else nodes[f->tail].next = link_to(f->map);
        w->tail = f->map;
    }
    w->pair = f->pair;
    return status;
}

/* Opens a container that is not empty. */
static mp_status
open_container(walk *w, const object *o, bool key)
{
    const frame *around = innermost(w);
    frame f = {.left = mp_declared_objects(o->head.kind, o->head.n), .n = o->head.n};

    if (depth_of(w) == w->max_depth) return MP_E_DEPTH;
    if (key && around->keys == MP_KEY_NESTING_MAX) return MP_E_KEY_DEPTH;
    if (around->key_depth == MP_KEY_DEPTH_MAX) return MP_E_KEY_DEPTH;
    f.keys = (uint8_t)(around->keys + key);
    f.key_depth = (uint8_t)(around->key_depth + (f.keys > 0));
    f.map_p = o->head.kind == MP_MAP;
    f.pair = w->pair;
    f.tail = w->tail;
    if (f.map_p && w->nodes) {
        f.map = node_count(w);
        node_push(w, o->next);
    }
    mp_out_write(w->open, &f, sizeof(f));
    return MP_OK;
}

/* Checks an object without its contents. */
static mp_status
check_object(const walk *w, const object *o, bool in_key)
{
    if (o->head.kind == MP_STR && !mp_utf8_valid_p(o->head.payload, o->head.n)) return MP_E_UTF8;
    if (in_key && nan_p(o)) return MP_E_NAN_KEY;
    return w->nodes || canonical_p(o) ? MP_OK : MP_E_FORM;
}

/* Moves past the head and the payload of the next object. */
static mp_status
object_begins(walk *w, bool *opened)
{
    frame *f = innermost(w);
    bool key = f->map_p && !(f->left & 1);
    mp_status status;
    object o;

    if (key) key_begins(w, f);
    status = object_read(w->p, w->end, &o);
    if (status == MP_OK) status = check_object(w, &o, key || f->key_depth);
    if (status == MP_OK) {
        *opened = mp_declared_objects(o.head.kind, o.head.n) != 0;
        if (*opened) status = open_container(w, &o, key);
    }
    if (status == MP_OK) w->p = o.next;
    return status;
}

/* Counts the object that ends here and the containers that end with it. Sets *whole at the end of the walk. */
static mp_status
object_ends(walk *w, bool *whole)
{
    mp_status status = MP_OK;

    while (status == MP_OK) {
        frame *f = innermost(w);

        f->left--;
        if (f->map_p && f->left & 1) return key_ends(w, f);
        if (f->map_p && w->nodes) nodes_of(w)[w->pair].end = w->p;
        *whole = !f->left && !depth_of(w);
        if (f->left || *whole) break;
        if (f->map_p && w->nodes) status = map_ends(w, f);
        w->open->pos = (uint8_t *)f;
    }
    return status;
}

static mp_status
walk_over(walk *w)
{
    static const frame outermost = {.left = 1};
    bool whole = false, opened;
    mp_status status = MP_OK;

    w->open->pos = w->open->start;
    mp_out_write(w->open, &outermost, sizeof(outermost));
    if (w->nodes) {
        w->nodes->pos = w->nodes->start;
        node_push(w, NULL);
    }
    while (status == MP_OK && !whole) {
        status = object_begins(w, &opened);
        if (status == MP_OK && !opened) status = object_ends(w, &whole);
    }
    return status;
}

/* --- the verbs -------------------------------------------------------------------------------------- */

static void
write_bytes(mp_out *out, const uint8_t *from, const uint8_t *to)
{
    mp_out_write(out, from, (size_t)(to - from));
}

/* Writes an object without its contents. */
static void
write_head(mp_out *out, const object *o)
{
    mp_out_commit(out, put_head(mp_out_reserve(out, MP_HEAD_MAX), o));
    if (o->head.payload != o->next) mp_out_write(out, o->head.payload, o->head.n);
}

/*
 * Writes the object at p, which the first walk has checked. Adjacent objects that are already canonical are copied
 * together.
 */
static mp_status
write_object(const uint8_t *p, const uint8_t *end, const node *nodes, mp_out *out)
{
    uint64_t left;
    cursor c;

    cursor_set(&c, nodes, p, nodes[ROOT].inner);
    for (left = 1; left; left--) {
        mp_status status;
        object o;

        if (c.p == c.turn) {
            write_bytes(out, p, c.p);
            cursor_turn(&c, nodes);
            p = c.p;
        }
        status = object_read(c.p, end, &o);
        if (status != MP_OK) return status;
        c.p = o.next;
        left += mp_declared_objects(o.head.kind, o.head.n);
        if (canonical_p(&o)) continue;
        write_bytes(out, p, o.at);
        write_head(out, &o);
        p = c.p;
    }
    write_bytes(out, p, c.p);
    return MP_OK;
}

mp_status
mp_canonical_check(const uint8_t **p, const uint8_t *end, size_t max_depth, mp_out *open)
{
    walk w = {.p = *p, .end = end, .max_depth = max_depth, .open = open};
    mp_status status = walk_over(&w);

    *p = w.p;
    return status;
}

mp_status
mp_canonical_write(const uint8_t **p, const uint8_t *end, size_t max_depth, mp_out *open, mp_out *nodes, mp_out *out)
{
    walk w = {.p = *p, .end = end, .max_depth = max_depth, .open = open, .nodes = nodes};
    const uint8_t *start = *p;
    mp_status status = walk_over(&w);

    if (status == MP_OK) status = write_object(start, end, nodes_of(&w), out);
    *p = w.p;
    return status;
}
