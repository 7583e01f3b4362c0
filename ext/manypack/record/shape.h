/*
 * Shapes: what an object must be, compiled from what a program says of its types. A Manypack::Type owns an array of
 * them; the first is its own. They never change.
 */
#ifndef MANYPACK_SHAPE_H
#define MANYPACK_SHAPE_H

#include "base/support.h"
#include "core/key.h"
#include "record/field_table.h"

typedef enum {
    MP_SHAPE_ANY,
    MP_SHAPE_VIEW,
    MP_SHAPE_SPECIAL, /* nil, true or false */
    MP_SHAPE_INTEGER,
    MP_SHAPE_FLOAT,
    MP_SHAPE_STRING,
    MP_SHAPE_SYMBOL,
    MP_SHAPE_CLASS,   /* whatever becomes an object of a class */
    MP_SHAPE_ENUM,
    MP_SHAPE_LIST,
    MP_SHAPE_MAP,
    MP_SHAPE_ANY_OF,
    MP_SHAPE_RECORD,
    MP_SHAPE_TAGGED,
    MP_SHAPE_UNNAMED, /* a name that no Record has: using it is an error */
} mp_shape_kind;

/* How an object of a Record's class is made. */
typedef enum {
    MP_BUILD_STRUCT,   /* its members are set */
    MP_BUILD_DATA,     /* and then it is frozen */
    MP_BUILD_IVARS,    /* its instance variables are set */
    MP_BUILD_NEW,      /* klass.new(*values) */
    MP_BUILD_KEYWORDS, /* klass.new(**values) */
} mp_build;

typedef enum {
    MP_FORM_MAP,
    MP_FORM_ARRAY,
    MP_FORM_LAZY, /* a map of which only the places of values are kept */
} mp_form;

typedef enum {
    MP_UNKNOWN_SKIP,
    MP_UNKNOWN_RAISE,
    MP_UNKNOWN_INTO, /* a Hash, which a member gets */
} mp_unknown;

typedef struct mp_shape mp_shape;

typedef struct {
    const mp_shape *shape;
    VALUE name;          /* of the member, a Symbol */
    VALUE key;           /* as it is written; for paths */
    VALUE default_value; /* Qundef without one */
    bool called;         /* default_value is called for each object and returns its default */
    bool optional;       /* it may be missing: the class's own initialize has a default */
    ID ivar;             /* MP_BUILD_IVARS */
    int slot;            /* of the member in its class */
    uint32_t packed_key; /* of key in the table */
} mp_field;

typedef struct {
    VALUE object; /* the Manypack::Record */
    VALUE klass;
    VALUE reader; /* MP_FORM_LAZY: the class of its LazyRecords */
    mp_build build;
    mp_form form;
    mp_unknown unknown;
    mp_field *fields;
    uint32_t count;
    bool calls;     /* a field has a default that is called */
    uint32_t into;  /* the field for MP_UNKNOWN_INTO; MP_FIELD_NONE without one */
    mp_field_table keys;
    bool views;     /* there may be Views in its objects */
} mp_record;

struct mp_shape {
    mp_shape_kind kind;
    uint32_t accepts;       /* a bit for each mp_kind that may begin it */
    uint32_t dumps;         /* the same for dumping, which takes any scalar for any other */
    const mp_shape **parts; /* LIST: elements; MAP: keys, values; ANY_OF; TAGGED: one for each tag, and else if any */
    uint32_t count;         /* of parts */
    VALUE words;            /* what it is, for errors */
    VALUE klass;            /* CLASS */
    VALUE objects;          /* ENUM: the literals; TAGGED: values of the tag; SPECIAL: what it is; an Array */
    VALUE tag;              /* TAGGED: the key; else 0 */
    int64_t min, max;       /* INTEGER: the part of the range up to INT64_MAX; max < min if it is empty */
    uint64_t above_min, above_max; /* INTEGER: the part of the range above INT64_MAX, in the same way */
    double least, most;     /* FLOAT */
    bool ranged;            /* FLOAT: there is a range, so NaN is outside */
    bool below_most;        /* FLOAT: most itself is outside */
    bool widens;            /* ANY_OF: a part makes Floats from integers, so the others are tried first */
    mp_record *record;      /* RECORD */
};

typedef struct {
    mp_shape *shapes;
    uint32_t count;
    bool views; /* one of them is a VIEW */
} mp_shapes;

/* The bit of a kind of head in accepts. */
MP_INLINE uint32_t
mp_kind_bit(mp_kind kind)
{
    return UINT32_C(1) << kind;
}

#define MP_KIND_BITS_INTEGER (mp_kind_bit(MP_FIXINT) | mp_kind_bit(MP_UINT) | mp_kind_bit(MP_INT))
#define MP_KIND_BITS_FLOAT (mp_kind_bit(MP_FLOAT32) | mp_kind_bit(MP_FLOAT64))
#define MP_KIND_BITS_TEXT (mp_kind_bit(MP_STR) | mp_kind_bit(MP_BIN))

/* Everything except nil, arrays and maps. */
#define MP_KIND_BITS_SCALAR (MP_KIND_BITS_INTEGER | MP_KIND_BITS_FLOAT | MP_KIND_BITS_TEXT | mp_kind_bit(MP_EXT) | \
                             mp_kind_bit(MP_TRUE) | mp_kind_bit(MP_FALSE))

/* The Record that makes the objects of a part of a TAGGED, itself or as one of several types; NULL without one. */
const mp_record *mp_shape_record(const mp_shape *shape);

/* The field whose key is the tag of a union; MP_FIELD_NONE without one. */
uint32_t mp_record_field_of_tag(const mp_record *record, VALUE tag);

/* True if the object from at to end is the key of a TAGGED. */
bool mp_shape_tag_at_p(const mp_shape *shape, const uint8_t *at, const uint8_t *end);

/*
 * Fills empty shapes from an Array of nodes, as lib/manypack/record/type/compiler.rb makes them. If it raises, what is
 * there already can be freed. owner refers to all objects in them.
 */
void mp_shapes_compile(mp_shapes *shapes, VALUE nodes, VALUE owner);

void mp_shapes_mark(mp_shapes *shapes);
void mp_shapes_compact(mp_shapes *shapes);
void mp_shapes_free(mp_shapes *shapes);
size_t mp_shapes_memsize(const mp_shapes *shapes);

#endif
