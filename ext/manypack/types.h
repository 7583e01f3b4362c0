/* Ext types: which class packs as which, by what; which type unpacks by what. Part of a Codec, immutable. */
#ifndef MANYPACK_TYPES_H
#define MANYPACK_TYPES_H

#include "support.h"

#include <ruby/atomic.h>

/*
 * What a user gave as packer or unpacker, taken apart so that it can cross to other Ractors where its parts
 * can: a Method is kept as its receiver and name, because its to_proc could not be shared.
 */
typedef struct {
    VALUE receiver; /* a Proc when method is 0; Qundef for a method of the object that is packed */
    VALUE proc;     /* does the same, and can be shared where the receiver can; Qundef where that is Qundef */
    ID method;
    bool shareable;
    bool common;    /* registered on DefaultFactory: all Ractors have it, those too that must not call it */
} mp_handler;

typedef struct {
    VALUE klass; /* a Module */
    mp_handler handler;
    int8_t type;
    bool recursive;         /* the handler writes the body to a Packer, or reads it from an Unpacker */
    bool oversized_integer; /* of Integer: only what 64 bits cannot hold */
    bool optimized_symbol;  /* of Symbol: the body is the name, without calling the handler */
    bool timestamp;         /* the handler is that of Manypack::Time, and need not be called */
} mp_type;

typedef struct {
    rb_atomic_t holders; /* Codecs and Factories that have it */
    mp_type *packers;    /* by class, in order of registration */
    size_t packer_count;
    mp_type *unpackers;  /* in order of registration */
    size_t unpacker_count;
    const mp_type *symbol, *integer; /* of packers: those of Symbol and of oversized Integer, or NULL */
    uint16_t place[256]; /* of each type, from -128 on, where in unpackers it is, plus one */
} mp_types;

/* Checks an ext type from Ruby. RangeError outside -128..127. */
int mp_ext_type(VALUE type);

/*
 * A handler for spec: Proc, Method, Symbol, String or what answers call (TypeError). owner has the named method
 * (NameError); Qundef stands for every object that is packed.
 */
mp_handler mp_handler_init(VALUE spec, VALUE owner);

VALUE mp_handler_call(const mp_handler *handler, int argc, const VALUE *argv);

/* A Proc that does the same: each time the same one, or one that is equal. */
VALUE mp_handler_proc(const mp_handler *handler);

/* The shared empty registry, which is never freed. */
extern mp_types mp_no_types;

/* A registry to fill, held once. */
mp_types *mp_types_new(void);

/* Copies the types of from into to, which is empty. */
void mp_types_copy(mp_types *to, const mp_types *from);

/* Adds a holder, and returns the registry; drops a holder: the last one frees it. */
mp_types *mp_types_hold(mp_types *types);
void mp_types_release(mp_types *types);

/* Registers; the last one of a class packs it, the last one of a type unpacks it. */
void mp_types_add_packer(mp_types *types, mp_type type);
void mp_types_add_unpacker(mp_types *types, mp_type type);

void mp_types_mark(const mp_types *types);
void mp_types_compact(mp_types *types);

/* Its size, of which each holder tells the same share. */
size_t mp_types_memsize(const mp_types *types);

/* Whether every handler may be called in every Ractor. */
bool mp_types_shareable_p(const mp_types *types);

/* All of them are in the hands of all Ractors from now on. */
void mp_types_make_common(mp_types *types);

/*
 * Before a handler is called or handed out: Ractor::IsolationError, naming type, class and way out, where it is common,
 * cannot be shared, and this is not the main Ractor, whose it is.
 */
void mp_type_check_ractor(const mp_type *type);

/* The same for all of them, where they shall cross to another Ractor. */
void mp_types_check_shareable(const mp_types *types);

/* The type that packs obj, which is no exact core type: its class, its singleton class or an ancestor; NULL. */
const mp_type *mp_types_for_object(const mp_types *types, VALUE obj);

/* The type that unpacks an ext; NULL. */
MP_INLINE const mp_type *
mp_types_for_ext(const mp_types *types, int type)
{
    uint16_t place = types->place[type + 128];

    return place ? &types->unpackers[place - 1] : NULL;
}

#endif
