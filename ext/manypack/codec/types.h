/* Ext types: the registry of classes that are packed as ext types, with their handlers. In a Codec it is immutable. */
#ifndef MANYPACK_TYPES_H
#define MANYPACK_TYPES_H

#include "base/support.h"

#include <ruby/atomic.h>

/*
 * A packer or unpacker that a user registered. A Method is stored as its receiver and name, because Ractors may be able
 * to share those; they can never share the Method's to_proc.
 */
typedef struct {
    VALUE receiver; /* a Proc if method is 0; Qundef for a method of the object that is packed */
    VALUE proc;     /* the handler as a Proc, shareable if receiver is; Qundef if receiver is. For registered_types */
    ID method;
    bool shareable;
    bool withheld;  /* a handler that only the main Ractor may call; its parts are removed: see mp_types_withhold */
} mp_handler;

typedef struct {
    VALUE klass; /* a Module */
    mp_handler handler;
    int8_t type;
    bool recursive;         /* the handler writes the body to a Packer, or reads it from an Unpacker */
    bool oversized_integer; /* for Integer: packs only Integers of more than 64 bits */
    bool optimized_symbol;  /* for Symbol: the body is the name, and no handler is called */
    bool timestamp;         /* the handler is Manypack::Time's: we do its work without calling it */
} mp_type;

typedef struct {
    rb_atomic_t holders; /* number of Codecs and Factories that hold the registry */
    mp_type *all;        /* first the packers, then the unpackers, each in order of registration */
    size_t packers;      /* the number of packers */
    size_t count;        /* the number of packers and unpackers */
    bool withheld;       /* some handlers were removed by mp_types_withhold */
    const mp_type *symbol, *integer; /* the packers of Symbol and of oversized Integer; NULL if not registered */
    uint16_t place[256]; /* for each type from -128 on: the number of its unpacker, from 1; or 0 */
} mp_types;

/* True for an Integer that is an ext type. */
MP_INLINE bool
mp_ext_type_p(VALUE type)
{
    return RB_FIXNUM_P(type) && FIX2LONG(type) >= INT8_MIN && FIX2LONG(type) <= INT8_MAX;
}

/* The ext type that an Integer stands for. TypeError for anything else, RangeError outside -128..127. */
int mp_ext_type(VALUE type);

/*
 * Makes a handler of a Proc, a Method, an object that responds to call, or the name of a method. The method is one of
 * `owner` or, if owner is Qundef, of the object that is packed. TypeError for any other spec, NameError for a missing
 * method.
 */
mp_handler mp_handler_init(VALUE spec, VALUE owner);

VALUE mp_handler_call(const mp_handler *handler, int argc, const VALUE *argv);

/* The Proc of a handler. Always the same Proc, or, if Symbol#to_proc makes it, an equal one. */
VALUE mp_handler_proc(const mp_handler *handler);

/* The empty registry, which is shared and never freed. */
extern mp_types mp_no_types;

/* A new registry with one holder. */
mp_types *mp_types_new(void);

/* Copies the types of from to an empty registry. */
void mp_types_copy(mp_types *to, const mp_types *from);

/*
 * mp_types_hold adds a holder and returns the registry. mp_types_release removes a holder; the last frees the registry.
 */
mp_types *mp_types_hold(mp_types *types);
void mp_types_release(mp_types *types);

/*
 * Register a type. The last registration of a class packs it, the last registration of a type unpacks it. A class that
 * was reloaded under its name replaces the old class with that type.
 */
void mp_types_add_packer(mp_types *types, mp_type type);
void mp_types_add_unpacker(mp_types *types, mp_type type);

void mp_types_mark(const mp_types *types);
void mp_types_compact(mp_types *types);

/* A holder's share of the registry's size. */
size_t mp_types_memsize(const mp_types *types);

/* True if every Ractor may call every handler. */
bool mp_types_shareable_p(const mp_types *types);

/* True if both have the same types with the same handlers, in any order. */
bool mp_types_same_p(const mp_types *one, const mp_types *other);

/*
 * Removes the receiver and Proc of each handler that is not shareable, so that every Ractor may refer to the registry.
 * Its types remain, but mp_type_check raises for them.
 */
void mp_types_withhold(mp_types *types);

/*
 * Must be called before a handler is called or returned. Raises Ractor::IsolationError if it is withheld. The message
 * names the type, the class and a remedy.
 */
void mp_type_check(const mp_type *type);

/* The same error for any type that cannot be shared. Must be called before the registry goes to another Ractor. */
void mp_types_check_shareable(const mp_types *types);

/* The type that packs obj: that of its singleton class, its class, or its nearest ancestor; NULL without one. */
const mp_type *mp_types_for_object(const mp_types *types, VALUE obj);

/* True if the registry unpacks an ext type. */
MP_INLINE bool
mp_types_unpack_p(const mp_types *types)
{
    return types && types->count > types->packers;
}

/* The type that unpacks an ext; NULL if there is none. */
MP_INLINE const mp_type *
mp_types_for_ext(const mp_types *types, int type)
{
    uint16_t place = types->place[type + 128];

    return place ? &types->all[types->packers + place - 1] : NULL;
}

#endif
