/*
 * Manypack::Tally: counts what messages are made of, for `manypack stat`: the heads, the bytes by path, the depths and
 * the sizes. A path is a node of a tree. A table finds its number by the node around it and the key: one look-up for
 * each head, at any depth. All indices of an array count as one key, and so do all keys after NODES_MAX paths.
 *
 *     tally = Tally.new
 *     tally.add(bytes, start, size)   # whole messages
 *     tally.counts                    # => how often each of the 256 head bytes occurs, and so on
 *     tally.nodes                     # => [[node around it, kind of the key, key, bytes], ...]
 */
#include "base/error.h"
#include "base/options.h"
#include "core/utf8.h"
#include "core/wire.h"
#include "terminal/part.h"

enum {
    NODES_MAX = 1000,   /* paths; all others are counted as [*] */
    TABLE_SIZE = 4096,  /* a power of two, several times as many */
    KEY_MAX = 256,      /* bytes of a key; a longer one is counted as [*] */
    DEPTH_MAX = MP_TERMINAL_MAX_DEPTH + 1
};

/* The kind of a node's name. ANY: an index, an Integer, or a key that a Path cannot name. */
typedef enum { ANY, TEXT, BYTES, REAL, WORD } key_kind;

typedef struct {
    key_kind kind;
    uint32_t n;
    const uint8_t *bytes; /* of a WORD, its head */
} key;

typedef struct {
    uint64_t bytes;
    uint32_t around;
    uint32_t hash;
    key_kind kind;
    uint32_t n;
    uint8_t *key;
} node;

/* An open container: how many objects are to come, and the nodes of it, of its elements, and of the next value. */
typedef struct {
    uint64_t left;
    uint32_t node, any, value;
    bool map;
} frame;

typedef struct {
    uint64_t size;          /* bytes of whole messages */
    uint64_t heads[256], depths[DEPTH_MAX], sizes[65]; /* sizes: by the bits of a message's size */
    uint32_t count;         /* nodes; the first is the message */
    uint32_t other;         /* the node for all paths without a node of their own; 0 if there is none yet */
    uint16_t table[TABLE_SIZE]; /* numbers of nodes; 0: free */
    node nodes[NODES_MAX + 2];
} tally;

static void
tally_free(void *ptr)
{
    tally *t = ptr;

    for (uint32_t i = 0; i < t->count; i++) xfree(t->nodes[i].key);
    xfree(ptr);
}

static size_t
tally_memsize(const void *ptr)
{
    const tally *t = ptr;
    size_t size = sizeof(tally);

    for (uint32_t i = 0; i < t->count; i++) size += t->nodes[i].n;
    return size;
}

/* Not shareable: every call changes it. Not embeddable: no slot is as large. It refers to no object. */
static const rb_data_type_t tally_type = {
    .wrap_struct_name = "Manypack::Tally",
    .function = {.dfree = tally_free, .dsize = tally_memsize},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED,
};

static tally *
tally_get(VALUE self)
{
    tally *t;

    TypedData_Get_Struct(self, tally, &tally_type, t);
    return t;
}

/* call-seq: Tally.new -> tally */
static VALUE
rb_tally_s_new(VALUE klass)
{
    tally *t;
    VALUE self = TypedData_Make_Struct(klass, tally, &tally_type, t);

    t->count = 1;
    return self;
}

/* --- nodes ------------------------------------------------------------------------------------------ */

/* A key of a map, as a Path names it: a bin is text if it is ASCII; a str that is not valid UTF-8 counts as bytes. */
static key
tally_key(const uint8_t *p, const mp_head *head)
{
    key any = {.kind = ANY, .n = 0, .bytes = NULL};

    switch (head->kind) {
      case MP_STR:
      case MP_BIN: {
        bool text = head->n <= KEY_MAX && (head->kind == MP_STR ? mp_utf8_valid_p(head->payload, head->n)
                                                                : mp_ascii_p(head->payload, head->n));
        if (head->n > KEY_MAX) return any;
        return (key){.kind = text ? TEXT : BYTES, .n = head->n, .bytes = head->payload};
      }
      case MP_NIL:
      case MP_FALSE:
      case MP_TRUE: return (key){.kind = WORD, .n = 1, .bytes = p};
      case MP_FLOAT32:
      case MP_FLOAT64: {
        double real = mp_row_real(p, MP_WIRE[*p]);
        if (real != real) return any;
        return (key){.kind = REAL, .n = (uint32_t)(head->payload - p), .bytes = p};
      }
      default: return any;
    }
}

/* Any hash will do: there are few nodes, so few of them can collide. */
static uint32_t
hash_of(uint32_t around, key k)
{
    uint64_t hash = (uint64_t)around * UINT64_C(0x9e3779b97f4a7c15) + k.kind + k.n;
    uint32_t i = 0;

    for (; i + 8 <= k.n; i += 8) hash = (hash ^ mp_load64(k.bytes + i)) * UINT64_C(0xd6e8feb86659fd93);
    for (; i < k.n; i++) hash = (hash ^ k.bytes[i]) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(hash >> 32);
}

static bool
node_p(const node *n, uint32_t around, uint32_t hash, key k)
{
    return n->hash == hash && n->around == around && n->kind == k.kind && n->n == k.n &&
           (!k.n || !memcmp(n->key, k.bytes, k.n));
}

/* The node for paths after the first NODES_MAX: [*] of the message. */
static uint32_t
other_node(tally *t)
{
    if (!t->other) {
        t->other = t->count++;
        t->nodes[t->other] = (node){.around = 0, .kind = ANY};
    }
    return t->other;
}

static uint32_t
node_new(tally *t, uint16_t *place, uint32_t around, uint32_t hash, key k)
{
    uint8_t *copy = NULL;
    uint32_t number;

    if (t->count >= NODES_MAX) return other_node(t);
    if (k.n) {
        copy = ALLOC_N(uint8_t, k.n); /* a collection moves no message: it is frozen, and on the C stack */
        memcpy(copy, k.bytes, k.n);
    }
    number = t->count++;
    t->nodes[number] = (node){.around = around, .hash = hash, .kind = k.kind, .n = k.n, .key = copy};
    *place = (uint16_t)number;
    if (!around && k.kind == ANY) t->other = number;
    return number;
}

/* Finds or adds the node for a key inside another node. */
static uint32_t
node_of(tally *t, uint32_t around, key k)
{
    uint32_t hash = hash_of(around, k);
    uint16_t *place = &t->table[hash % TABLE_SIZE];

    while (*place) {
        if (node_p(&t->nodes[*place], around, hash, k)) return *place;
        place = place == &t->table[TABLE_SIZE - 1] ? t->table : place + 1;
    }
    return node_new(t, place, around, hash, k);
}

static uint32_t
any_node(tally *t, uint32_t around)
{
    return node_of(t, around, (key){.kind = ANY});
}

/* --- messages --------------------------------------------------------------------------------------- */

/* The node of the next object of a container. A key belongs to its map. */
static uint32_t
next_node(tally *t, frame *inner, bool is_key)
{
    if (is_key) return inner->node;
    if (inner->map) return inner->value;
    if (!inner->any) inner->any = any_node(t, inner->node);
    return inner->any;
}

/* Counts a message and sets *p to its end, or to the head to blame. */
static mp_status
add_message(tally *t, const uint8_t **p, const uint8_t *end)
{
    const uint8_t *start = *p;
    frame frames[DEPTH_MAX];
    size_t depth = 0, deepest = 0;

    do {
        frame *inner = depth ? &frames[depth - 1] : NULL;
        bool is_key = inner && inner->map && !(inner->left & 1);
        uint32_t number = inner ? next_node(t, inner, is_key) : 0;
        const uint8_t *at = *p, *next;
        mp_head head;
        mp_status status = mp_head_over(at, end, &head, &next);

        if (status != MP_OK) return status;
        t->heads[*at]++;
        t->nodes[number].bytes += (uint64_t)(next - at);
        if (depth > deepest) deepest = depth;
        if (is_key) inner->value = node_of(t, inner->node, tally_key(at, &head));
        if (inner) inner->left--;
        *p = next;
        if (mp_declared_objects(head.kind, head.n)) {
            if (depth == DEPTH_MAX - 1) return MP_E_DEPTH;
            frames[depth++] = (frame){
                .left = mp_declared_objects(head.kind, head.n), .node = is_key ? inner->value : number,
                .map = head.kind == MP_MAP,
            };
        }
        while (depth && !frames[depth - 1].left) depth--;
    } while (depth);
    t->size += (uint64_t)(*p - start);
    t->depths[deepest]++;
    for (uint64_t size = (uint64_t)(*p - start), bits = 0;; size >>= 1, bits++) {
        if (!size) {
            t->sizes[bits]++;
            return MP_OK;
        }
    }
}

/*
 * call-seq: tally.add(bytes, start, size) -> self
 *
 * Counts the messages in a part of a String. Raises a DecodeError, whose offset counts from start.
 */
static VALUE
rb_tally_add(VALUE self, VALUE bytes, VALUE start, VALUE size)
{
    tally *t = tally_get(self);
    mp_part part = mp_part_of(bytes, start, size);
    const uint8_t *p = part.start;

    while (p < part.end) {
        mp_status status = add_message(t, &p, part.end);
        if (status != MP_OK) mp_raise_status(status, mp_blame_of(part.start, p, part.end, 0));
    }
    RB_GC_GUARD(part.bytes);
    RB_GC_GUARD(self);
    return self;
}

/* --- results ---------------------------------------------------------------------------------------- */

static VALUE
numbers(const uint64_t *from, long n)
{
    VALUE array = rb_ary_new_capa(n);

    for (long i = 0; i < n; i++) rb_ary_push(array, ULL2NUM(from[i]));
    return array;
}

/*
 * call-seq: tally.counts -> [heads, depths, sizes, bytes]
 *
 * How often each head byte occurs, how many messages there are of each depth, and of each number of bits in their size;
 * and the bytes of whole messages.
 */
static VALUE
rb_tally_counts(VALUE self)
{
    const tally *t = tally_get(self);
    VALUE heads = numbers(t->heads, 256), depths = numbers(t->depths, DEPTH_MAX), sizes = numbers(t->sizes, 65);

    return rb_ary_new_from_args(4, heads, depths, sizes, ULL2NUM(tally_get(self)->size));
}

/*
 * call-seq: tally.nodes -> Array
 *
 * For each path: the number of the path around it, the kind of its last step, the bytes of the key, and how many bytes
 * are there, without those of longer paths. The first is the message.
 */
static VALUE
rb_tally_nodes(VALUE self)
{
    static const char *const KINDS[] = {
        [ANY] = "any", [TEXT] = "text", [BYTES] = "bytes", [REAL] = "real", [WORD] = "word",
    };
    const tally *t = tally_get(self);
    VALUE nodes = rb_ary_new_capa(t->count);

    for (uint32_t i = 0; i < t->count; i++) {
        const node *n = &t->nodes[i];
        VALUE name = rb_str_new((const char *)n->key, (long)n->n);
        rb_ary_push(nodes, rb_ary_new_from_args(4, UINT2NUM(n->around), ID2SYM(rb_intern(KINDS[n->kind])), name,
                                                ULL2NUM(n->bytes)));
    }
    RB_GC_GUARD(self); /* the nodes lie in its slot */
    return nodes;
}

void
Init_manypack_tally(void)
{
    VALUE cTally = rb_define_class_under(mp_mManypack, "Tally", rb_cObject);

    rb_undef_alloc_func(cTally);
    rb_define_singleton_method(cTally, "new", rb_tally_s_new, 0);
    rb_define_method(cTally, "add", rb_tally_add, 3);
    rb_define_method(cTally, "counts", rb_tally_counts, 0);
    rb_define_method(cTally, "nodes", rb_tally_nodes, 0);
    rb_funcall(mp_mManypack, rb_intern("private_constant"), 1, ID2SYM(rb_intern("Tally")));
}
