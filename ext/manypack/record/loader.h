/*
 * The state of loading bytes as objects of given shapes. load.c uses it like this:
 *
 *   mp_value_words words;                             // on the C stack, as is the loader
 *   mp_loader l;
 *
 *   mp_loader_init(&l, &words, message, 0, type, codec);
 *   row = mp_loader_row(&l);                          // the next head; raises if it is incomplete
 *   if (row.kind == MP_ARRAY) {
 *       n = mp_row_count(l.d.at, row);
 *       mp_loader_open(&l, &place, l.d.at);           // counts the level and adds it to the path of errors
 *       l.d.at += row.head;
 *       while (n--) mp_loader_push(&l, load(&l));     // elements wait on the value stack
 *       mp_loader_close(&l, &place);
 *   } else {
 *       mp_loader_skip(&l);                           // skips any other object
 *   }
 *   mp_loader_end(&l);
 *
 * Errors name l.record and l.field, and have a path along l.place.
 */
#ifndef MANYPACK_LOADER_H
#define MANYPACK_LOADER_H

#include "base/error_path.h"
#include "base/stack.h"
#include "json/json_place.h"
#include "record/shape.h"
#include "unpack/decoder.h"

/* The depth up to which containers are skipped without allocating memory, plus the level that the walk begins in. */
#define MP_LOADER_PLACES 129

/* How many Records that need no constructor a loader remembers. */
#define MP_LOADER_FILLED 8

/*
 * The tag key of the union that chose a Record. It is a known key, even if no field has it. `up`: the tag key of the
 * outer union, if this union is its else.
 */
typedef struct mp_tag_key {
    const struct mp_tag_key *up;
    VALUE key;
} mp_tag_key;

/* Lives on the C stack, so its VALUEs stay alive. The message is frozen, so its bytes do not move. */
typedef struct {
    mp_decoder d;             /* d.at is the next object */
    size_t count;             /* words of the value stack in use */
    uint32_t depth;           /* open containers */
    const mp_place *place;    /* the path to the next object */
    const mp_record *record;  /* the innermost Record; NULL outside */
    uint32_t field;           /* of that Record; MP_FIELD_NONE outside */
    size_t from;              /* offset in the message where the path begins */
    const mp_tag_key *tag_keys; /* the tag keys of the unions that chose the next object; NULL if none did */
    size_t tags_passed;       /* the farthest offset that searches for tags have reached */
    VALUE passed_part;        /* the rest of the message, for which `passed` is the Index */
    VALUE passed;             /* an Index by which searches for tags skip containers; 0 until it pays */
    VALUE type;               /* the Type that owns the shapes */
    VALUE view;               /* of the whole message, which all Views in the object share; 0 until the first */
    VALUE origin;             /* the View that is loaded from; 0 if bytes are loaded */
    bool eager;               /* check what was dumped: LazyRecords load as objects, dump_only is read, and load_only */
                              /* may be missing */
    VALUE refusal;            /* thrown instead of a RecordError, which takes long to make; 0 to raise */
    const mp_record *filled[MP_LOADER_FILLED]; /* Records that need no constructor: each has one place; or NULL */
    mp_json_places *json;     /* the JSON text that the message was packed from; else NULL */
    VALUE given;              /* in from.c: the object that an error is about; else Qundef */
    bool lax;                 /* in from.c: text becomes what a type wants */
    const mp_rule *broken;    /* the rule that an object broke, unless another type took the object; */
    const uint8_t *broken_at; /* that object, */
    VALUE broken_error;       /* and the StandardError of user code, or 0 */
    VALUE errors;             /* an Array of RecordErrors, if all errors are collected; else 0 */
    long kept;                /* errors, and objects that were not made because a load_only member is missing: user */
                              /* code gets no object that contains one */
    size_t path_bytes;        /* of the paths of these errors */
    VALUE memory;             /* owns left, if places is too short; else 0 */
    uint64_t *left;           /* memory for skipping containers: places, or more */
    uint64_t places[MP_LOADER_PLACES];
} mp_loader;

MP_INLINE const mp_options *
mp_loader_options(const mp_loader *l)
{
    return &l->d.codec->options;
}

/* Pushes an object on the value stack. */
MP_INLINE void
mp_loader_push(mp_loader *l, VALUE object)
{
    if (MP_UNLIKELY(l->count == l->d.stack.capacity)) mp_decoder_grow_stack(&l->d, l->count);
    l->d.stack.values[l->count++] = object;
}

/* Starts at the object at an offset of a frozen message. words and codec must outlive the loader. */
void mp_loader_init(mp_loader *l, mp_value_words *words, VALUE message, size_t offset, VALUE type, VALUE codec);

/* Starts for Ruby objects instead of bytes: nothing may be read at l->d.at. */
void mp_loader_init_given(mp_loader *l, mp_value_words *words, VALUE type, VALUE codec);

/*
 * Continues the depth and the object count of the message around the body of an ext. Called before anything is loaded.
 */
void mp_loader_enclose(mp_loader *l, mp_outer outer);

/* The kind of head that the packed object would have; MP_EXT for an object of any other class. */
MP_INLINE mp_kind
mp_given_kind(VALUE object)
{
    if (RB_FIXNUM_P(object)) return MP_INT;
    if (RB_FLONUM_P(object)) return MP_FLOAT64;
    if (NIL_P(object)) return MP_NIL;
    if (object == Qtrue) return MP_TRUE;
    if (object == Qfalse) return MP_FALSE;
    if (RB_STATIC_SYM_P(object)) return MP_STR;
    switch (RB_BUILTIN_TYPE(object)) {
      case T_STRING: return RB_ENCODING_GET_INLINED(object) == mp_binary_index ? MP_BIN : MP_STR;
      case T_SYMBOL: return MP_STR;
      case T_HASH: return MP_MAP;
      case T_ARRAY: return MP_ARRAY;
      case T_FLOAT: return MP_FLOAT64;
      case T_BIGNUM: return MP_INT;
      default: return MP_EXT;
    }
}

/* Frees memory now instead of leaving it to the collector. */
void mp_loader_end(mp_loader *l);

/* The row of the next head byte. Raises at the end of the message and for 0xc1. */
MP_INLINE mp_wire_row
mp_loader_row(mp_loader *l)
{
    mp_wire_row row;

    if (MP_UNLIKELY(mp_row_read(l->d.at, l->d.end, &row) != MP_OK)) mp_decoder_raise(&l->d, MP_E_TRUNCATED, l->d.at);
    if (MP_UNLIKELY(row.kind == MP_NEVER)) mp_decoder_raise(&l->d, MP_E_BAD_HEAD, l->d.at);
    return row;
}

/* Moves past a head and its payload of n bytes, and returns the payload. */
MP_INLINE const uint8_t *
mp_loader_payload(mp_loader *l, mp_wire_row row, uint32_t n)
{
    const uint8_t *payload = l->d.at + row.head;

    if (MP_UNLIKELY(!mp_payload_present_p(payload, n, l->d.end))) mp_decoder_raise(&l->d, MP_E_TRUNCATED, l->d.at);
    l->d.at = payload + n;
    return payload;
}

/* The slow path of mp_loader_skip: moves past a container, or a leaf near the end of the message. */
void mp_loader_skip_container(mp_loader *l);

/* Moves past the next object. */
MP_INLINE void
mp_loader_skip(mp_loader *l)
{
    const uint8_t *p = l->d.at;
    uint64_t held;

    if (mp_ahead_p(p, l->d.end) && mp_step_over(&p, l->d.end, &held) == MP_STEP_LEAF) l->d.at = p;
    else mp_loader_skip_container(l);
}

/* Returns to an object to load it in another way. `others` is d.others from before: objects in its exts count once. */
MP_INLINE void
mp_loader_back(mp_loader *l, const uint8_t *at, uint64_t others)
{
    l->d.at = at;
    l->d.others = others;
}

/*
 * Opens the container whose head is at `at`, and appends place to the path. StackError if it is too deep; an empty one
 * is no level.
 */
MP_INLINE void
mp_loader_open(mp_loader *l, mp_place *place, const uint8_t *at)
{
    l->depth++;
    if (MP_UNLIKELY((l->depth > l->d.max_depth && mp_holds_objects_p(at, l->d.end)) || mp_stack_too_deep_p(l->depth))) {
        mp_decoder_raise(&l->d, MP_E_DEPTH, at);
    }
    place->up = l->place;
    l->place = place;
}

MP_INLINE void
mp_loader_close(mp_loader *l, const mp_place *place)
{
    l->depth--;
    l->place = place->up;
}

#endif
