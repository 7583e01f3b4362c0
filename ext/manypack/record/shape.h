/*
 * Shapes: the types of a program in the form that loading and dumping use, compiled from nodes that Ruby code makes. A
 * Manypack::Type owns an array of shapes, which never change; the first is that of the Type itself.
 *
 *   mp_shapes_compile(&shapes, nodes, type);                 // of a zeroed mp_shapes; the Type then marks them
 *   shape = &shapes.shapes[0];                               // say, that of Type[[User]]: kind is MP_SHAPE_LIST
 *   if (shape->accepts & mp_kind_bit(row.kind)) ...          // the type check of a head: an array
 *
 *   record = shape->parts[0]->record;                        // the elements are Users
 *   key = mp_field_table_find(&record->keys, &key_read);     // of a pair in the message; NULL for an unknown key
 *   value = load(record->fields[key->field].shape);
 *   ...
 *   object = mp_instance_new(record, values);
 *
 *   mp_shapes_free(&shapes);
 */
#ifndef MANYPACK_SHAPE_H
#define MANYPACK_SHAPE_H

#include "base/support.h"
#include "record/choices.h"
#include "record/field_table.h"
#include "record/rules.h"

typedef enum {
    MP_SHAPE_ANY,
    MP_SHAPE_VIEW,
    MP_SHAPE_SPECIAL, /* nil, true or false */
    MP_SHAPE_INTEGER,
    MP_SHAPE_FLOAT,
    MP_SHAPE_STRING,
    MP_SHAPE_TEXT,    /* a str of valid UTF-8 */
    MP_SHAPE_BYTES,   /* a bin */
    MP_SHAPE_SYMBOL,
    MP_SHAPE_CLASS,   /* any object of klass, a class or a module */
    MP_SHAPE_ENUM,
    MP_SHAPE_LIST,
    MP_SHAPE_TUPLE,   /* an array with one type for each element */
    MP_SHAPE_MAP,
    MP_SHAPE_ANY_OF,
    MP_SHAPE_RECORD,
    MP_SHAPE_TAGGED,
    MP_SHAPE_RULED,   /* its only part, and then rules */
    MP_SHAPE_UNNAMED, /* raises if used: a name without a Record, or a class of which the codec makes no objects */
    MP_SHAPE_SHARED,  /* reference to the first shape of another Type, its only part; no shape refers to it */
} mp_shape_kind;

/*
 * How an object of a Record's class is made. The class's own constructor may be defined after the Record is made. In an
 * mp_record, the last two say that the class is neither a Struct nor a Data: methods read its members.
 */
typedef enum {
    MP_BUILD_STRUCT,   /* its members are set, unless the class has a constructor of its own */
    MP_BUILD_DATA,     /* the same, and the object is frozen */
    MP_BUILD_IVARS,    /* its instance variables are set */
    MP_BUILD_NEW,      /* klass.new(*values) */
    MP_BUILD_KEYWORDS, /* klass.new(**values) */
} mp_build;

typedef enum {
    MP_FORM_MAP,
    MP_FORM_ARRAY,
    MP_FORM_LAZY, /* a map; only the offsets of its values are kept */
} mp_form;

typedef enum {
    MP_UNKNOWN_SKIP,
    MP_UNKNOWN_RAISE,
    MP_UNKNOWN_INTO, /* unknown pairs go into a Hash, which is the value of a member */
} mp_unknown;

/* In each of these structs the VALUEs stand together: shape.c marks all from the first to the last. */
typedef struct mp_shape mp_shape;

typedef struct {
    const mp_shape *shape;
    VALUE name;          /* name of the member, a Symbol */
    VALUE key;           /* the key that dump writes; for paths */
    VALUE symbol;        /* the same key as a Symbol; Qundef without one, or if the key is never read */
    VALUE default_value; /* Qundef without one */
    VALUE omitted;       /* dump leaves the field out if it has this value; Qundef without one */
    bool called;         /* default_value is called for each object and returns its default */
    bool load_only;      /* dump never writes it */
    ID reader;           /* reads the value: an instance variable (MP_BUILD_IVARS) or a method */
    int slot;            /* the member's index in its class, or among the arguments of new */
    const mp_field_key *written; /* key in the table; NULL for a field that holds the unknown pairs */
} mp_field;

typedef struct {
    VALUE object; /* the Manypack::Record */
    VALUE klass;
    VALUE reader; /* MP_FORM_LAZY: the class of its LazyRecords */
    VALUE tag_key; /* the tag key of the union that is attached to the class; nil without one */
    VALUE maker; /* MP_BUILD_KEYWORDS: its method make calls klass.new with a value for each field; or nil */
    mp_build build;
    mp_form form;
    mp_unknown unknown;
    mp_field *fields;
    uint32_t count;
    bool calls;     /* a field has a default that is called */
    uint32_t into;  /* the field for MP_UNKNOWN_INTO; MP_FIELD_NONE without one */
    const mp_shape *rest; /* the MAP type of that field; NULL if its type does not restrict the pairs */
    mp_field_table keys;
    const mp_rules *rules; /* the rules of its shape; NULL without any */
    mp_field_table dump_only; /* the keys of fields that are never read */
    bool views;     /* its objects may have Views inside */
    bool chosen;    /* dump needs the values, maybe from methods, to know which fields it writes */
    bool new_seen;  /* klass.new was Ruby's own for the first object; only ever set to true, so Ractors may share it */
} mp_record;

struct mp_shape {
    mp_shape_kind kind;
    uint32_t accepts;       /* a bit for each mp_kind that a head may have */
    uint32_t dumps;         /* the same for objects that mp_encode may pack; all scalars count as one kind */
    const mp_shape **parts; /* LIST: elements; MAP: keys, values; TUPLE; ANY_OF; RULED; TAGGED: tags, else, untagged */
    uint32_t count;         /* of parts */
    VALUE words;            /* the type in words, for errors */
    VALUE expected;         /* the same, in words for the sender of the message */
    VALUE bounds;           /* INTEGER, FLOAT: the range in such words; TAGGED: the tags; else 0 or nil */
    VALUE klass;            /* CLASS; UNNAMED: nil for a name */
    VALUE objects;          /* an Array of literals (ENUM), tags (TAGGED) or the object (SPECIAL); SHARED: the Type */
    VALUE tag_key;          /* TAGGED: the key whose value is the tag, or the Symbol :first; else 0 */
    VALUE table;            /* ENUM: a Hash from each literal, and the text of a Symbol, to the literal; */
                            /* TAGGED: from each tag to its index */
    VALUE classes;          /* TAGGED: a Hash by identity, from each class to the index of its tag */
    uint32_t longest;       /* ENUM: the size in bytes of the longest text among the literals */
    mp_rules rules;         /* RULED, RECORD: the rules for the loaded value */
    bool tag_first;         /* TAGGED: the tag is the first element of arrays */
    const mp_shape *otherwise; /* TAGGED: for objects with an unknown tag, and for those without; NULL without else */
    const mp_shape *untagged;  /* TAGGED: for objects without a tag, instead of otherwise; NULL without one */
    mp_choices choices;     /* ANY_OF: the Records of which a map is one; none if at most one part takes maps */
    int64_t min, max;       /* INTEGER: the part of the range up to INT64_MAX; max < min if it is empty */
    uint64_t above_min, above_max; /* INTEGER: the part of the range above INT64_MAX, in the same way */
    double least, most;     /* FLOAT */
    bool ranged;            /* FLOAT: there is a range, so NaN is outside */
    bool below_most;        /* FLOAT: most itself is outside */
    bool takes_text;        /* in JSON, text may stand for such an object: a BYTES, a Time, or a type that has one */
    bool takes_exts;        /* the codec may turn an ext into an object of the shape's class */
    bool converts;          /* RULED, or ANY_OF with such a part: a rule converts values */
    bool widens;            /* turns integers into Floats. ANY_OF: a part does, so integers try the other parts first */
    mp_record *record;      /* RECORD */
};

typedef struct {
    mp_shape *shapes;
    uint32_t count;
    bool views;   /* one of them is a VIEW, or a shared Type has one */
    bool unnamed; /* one of them is an UNNAMED, which another Type may resolve */
    bool named;   /* one of them is an UNNAMED for a name that was not looked up yet */
} mp_shapes;

/* The bit of a head's kind in accepts. */
MP_INLINE uint32_t
mp_kind_bit(mp_kind kind)
{
    return UINT32_C(1) << kind;
}

#define MP_KIND_BITS_INTEGER (mp_kind_bit(MP_FIXINT) | mp_kind_bit(MP_UINT) | mp_kind_bit(MP_INT))
#define MP_KIND_BITS_FLOAT (mp_kind_bit(MP_FLOAT32) | mp_kind_bit(MP_FLOAT64))
#define MP_KIND_BITS_TEXT (mp_kind_bit(MP_STR) | mp_kind_bit(MP_BIN))

/* The bit in `dumps` of shapes that take every object. No head has it. */
#define MP_KIND_BIT_ANY mp_kind_bit(MP_NEVER)

/* Everything except nil, arrays and maps. */
#define MP_KIND_BITS_SCALAR (MP_KIND_BITS_INTEGER | MP_KIND_BITS_FLOAT | MP_KIND_BITS_TEXT | mp_kind_bit(MP_EXT) | \
                             mp_kind_bit(MP_TRUE) | mp_kind_bit(MP_FALSE))

/* The mp_build for a name, a Symbol, that Record#build returns. */
mp_build mp_build_of(VALUE name);

/*
 * The Record in a part of a TAGGED: the part is that Record or an ANY_OF that has it, maybe within a RULED. NULL
 * without one.
 */
const mp_record *mp_shape_record(const mp_shape *shape);

/* The index of the tag that equals a value; MP_FIELD_NONE without one. */
uint32_t mp_shape_tag_number(const mp_shape *shape, VALUE value);

/* The field of a key, whether it is read or only written; NULL without one. */
const mp_field_key *mp_record_find_key(const mp_record *record, const mp_key *key);

/* A tag key, which is a UTF-8 String or an Integer of 64 bits. The String owns the bytes. */
mp_key mp_tag_key_read(VALUE tag_key);

/* The field that has the tag key; MP_FIELD_NONE without one. */
uint32_t mp_record_tag_field(const mp_record *record, VALUE tag_key);

/* True if the packed object from at to end is the tag key of a TAGGED. */
bool mp_shape_tag_key_at_p(const mp_shape *shape, const uint8_t *at, const uint8_t *end);

/*
 * Compiles shapes from an Array of nodes, which lib/manypack/record/type/compiler.rb makes. shapes must be zeroed; if
 * this raises, they can be freed. owner is the object that marks them. shapes_of returns the shapes of another Type
 * that a node shares.
 */
void mp_shapes_compile(mp_shapes *shapes, VALUE nodes, VALUE owner, const mp_shapes *shapes_of(VALUE type));

void mp_shapes_mark(mp_shapes *shapes);
void mp_shapes_compact(mp_shapes *shapes);
void mp_shapes_free(mp_shapes *shapes);
size_t mp_shapes_memsize(const mp_shapes *shapes);

#endif
