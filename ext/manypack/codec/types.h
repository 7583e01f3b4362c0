/* Ext types: the classes that are packed as one, and the handlers. Part of a Codec, and immutable there. */
#ifndef MANYPACK_TYPES_H
#define MANYPACK_TYPES_H

#include "base/support.h"

#include <ruby/atomic.h>

/*
 * A packer or unpacker that a user registered, taken apart so that Ractors can share it if they can share its parts: a
 * Method is kept as its receiver and name, because its to_proc could not be shared.
 */
typedef struct {
    VALUE receiver; /* a Proc if method is 0; Qundef for a method of the object that is packed */
    VALUE proc;     /* does the same, and can be shared if the receiver can; Qundef if that is Qundef; 0 until needed */
    ID method;
    bool shareable;
    bool common;    /* registered on DefaultFactory: every Ractor has it, even if only the main one may call it */
} mp_handler;

typedef struct {
    VALUE klass; /* a Module */
    mp_handler handler;
    int8_t type;
    bool recursive;         /* the handler writes the body to a Packer, or reads it from an Unpacker */
    bool oversized_integer; /* for Integer: only those that do not fit 64 bits */
    bool optimized_symbol;  /* for Symbol: the body is the name, and no handler is called */
    bool timestamp;         /* the handler is Manypack::Time's, whose work is done without calling it */
} mp_type;

typedef struct {
    rb_atomic_t holders; /* how many Codecs and Factories hold it */
    mp_type *packers;    /* by class, in order of registration */
    size_t packer_count;
    mp_type *unpackers;  /* in order of registration */
    size_t unpacker_count;
    const mp_type *symbol, *integer; /* the packers of Symbol and of oversized Integer; NULL if not registered */
    uint16_t place[256]; /* for each type, beginning with -128: its index in unpackers plus one, or 0 */
} mp_types;

/* The ext type that an Integer stands for. TypeError for anything else, RangeError outside -128..127. */
int mp_ext_type(VALUE type);

/*
 * Makes a handler of a Proc, a Method, an object that responds to call, or the name of a method of owner; if owner is
 * Qundef, of a method of the object that is packed. TypeError for any other spec, NameError for a missing method.
 */
mp_handler mp_handler_init(VALUE spec, VALUE owner);

VALUE mp_handler_call(const mp_handler *handler, int argc, const VALUE *argv);

/* A new Proc for a handler that has none. Only registered_types shows it, and it costs more than a short message. */
VALUE mp_handler_proc_new(const mp_handler *handler);

/* The Proc that does the same. Always the same Proc; or an equal one, as Ruby's of a Symbol are. */
VALUE mp_handler_proc(const mp_handler *handler);

/* The empty registry, which all share and nobody frees. */
extern mp_types mp_no_types;

/* A new registry with one holder. */
mp_types *mp_types_new(void);

/* Copies the types of from to an empty registry. */
void mp_types_copy(mp_types *to, const mp_types *from);

/* Add a holder and return the registry; remove a holder, the last of which frees the registry. */
mp_types *mp_types_hold(mp_types *types);
void mp_types_release(mp_types *types);

/*
 * Register a type. The last registration of a class packs it, the last one of a type unpacks it. A class that was
 * reloaded under its name replaces the old one with that type.
 */
void mp_types_add_packer(mp_types *types, mp_type type);
void mp_types_add_unpacker(mp_types *types, mp_type type);

void mp_types_mark(const mp_types *types);
void mp_types_compact(mp_types *types);

/* A holder's share of the registry's size. */
size_t mp_types_memsize(const mp_types *types);

/* True if every Ractor may call every handler. */
bool mp_types_shareable_p(const mp_types *types);

/* True if no handler's Proc is missing. */
bool mp_types_have_procs_p(const mp_types *types);

/* True if both have the same types in the same order, with the same handlers. */
bool mp_types_same_p(const mp_types *one, const mp_types *other);

/* Marks all types as common: from now on every Ractor has them. */
void mp_types_make_common(mp_types *types);

/*
 * Called before a handler is called or returned. Ractor::IsolationError, which names the type, the class and the way
 * out, if the handler is common but cannot be shared, and this is not the main Ractor, to which it belongs.
 */
void mp_type_check_ractor(const mp_type *type);

/* The same error for any type that cannot be shared. Called before the registry crosses to another Ractor. */
void mp_types_check_shareable(const mp_types *types);

/* The type that packs obj: that of its singleton class, its class, or its nearest ancestor. NULL if there is none. */
const mp_type *mp_types_for_object(const mp_types *types, VALUE obj);

/* The type that unpacks an ext; NULL if there is none. */
MP_INLINE const mp_type *
mp_types_for_ext(const mp_types *types, int type)
{
    uint16_t place = types->place[type + 128];

    return place ? &types->unpackers[place - 1] : NULL;
}

#endif
