/* Manypack::View: reads values out of packed bytes without unpacking the rest. */
#ifndef MANYPACK_VIEW_H
#define MANYPACK_VIEW_H

#include "pack/foreign.h"
#include "view/peek.h"

/* Offsets count from the start of `source`, an immutable String that holds one message. */
typedef struct {
    VALUE source;
    VALUE codec;   /* the Codec by which values are decoded */
    VALUE root;    /* the View of the message; 0 in that View itself */
    VALUE index;   /* of a root: 0, Qtrue after the first look, then the Index, or Qnil if it needs none;
                    * of a part: the root's Index, or 0 if the part does not know it yet */
    size_t offset; /* of the head */
    size_t end;    /* after the object; until that is known, 0 or MP_VIEW_END_OF_SOURCE */
} mp_view;

/* `end` of a View of the whole source, until its object's end is known: no bytes may follow the object. */
#define MP_VIEW_END_OF_SOURCE SIZE_MAX

/* The struct of a View, valid while the caller has it on its stack. For methods of the class: it checks nothing. */
MP_INLINE mp_view *
mp_view_data(VALUE self)
{
    return mp_typed_data(self);
}

bool mp_view_p(VALUE obj);

/* The View of the whole message that a View is a part of. */
VALUE mp_view_root(VALUE view);

/* True if the last of equal keys counts instead of the first. */
bool mp_view_last_key_p(VALUE view);

/*
 * Makes a Hash of a hidden Array of keys, each followed by its value or the value's offset. Of equal keys, takes the
 * one that View#[] finds. end is the offset after the map. LimitError as in unpacking.
 */
VALUE mp_view_hash(VALUE view, VALUE pairs, size_t end);

/* The kind of the object that a View shows. DecodeError for 0xc1. */
mp_kind mp_view_kind(VALUE view);

/* ShapeError unless the View is of this kind, MP_MAP or MP_ARRAY. */
void mp_view_expect(VALUE view, mp_kind kind);

/* The head of the map or array that a View shows. ShapeError for any other object, DecodeError if it is incomplete. */
mp_head mp_view_head(VALUE view);

/* The purpose of a look. It decides whether the first look makes the Index. The second does, unless MP_LOOK_ONCE. */
typedef enum {
    MP_LOOK_ONCE,     /* a single walk over the bytes: uses the Index if there is one, but makes none */
    MP_LOOK_FOR_ONE,  /* a value: the first look makes the Index if the message is long */
    MP_LOOK_FOR_ALL,  /* each part of a container: the first look makes no Index, which would be a second walk */
    MP_LOOK_FOR_MANY, /* several values: the first look makes the Index */
} mp_look_for;

/* Starts to look into the message of a View, and returns the View's offset. */
size_t mp_view_peek(VALUE view, mp_peek *peek, mp_look_for what);

/*
 * The value at an offset, which must be inside the message: a container as a View, any other object built. end is the
 * offset after it, or 0 if it is not known. view is any View of the message, or 0 if there is none yet.
 */
VALUE mp_view_value_at(mp_peek *peek, VALUE view, size_t offset, size_t end);

/*
 * Makes the root View for parts of a message, a frozen binary String. origin is 0 or a View of the same message, whose
 * Index the new View shares: a message is indexed once, even if many objects are loaded from it.
 */
VALUE mp_view_root_for(VALUE origin, VALUE message, VALUE codec);

/* Makes a View of bytes that are known to be exactly one object. Raises if the Codec's options refuse them. */
VALUE mp_view_whole(VALUE bytes, VALUE codec);

/* Makes a View of the object from offset to end in the message of a root View. */
VALUE mp_view_part(VALUE root, size_t offset, size_t end, VALUE codec);

/*
 * Stores the offset where a walk found the end of a View's object. MalformedFormatError if the View is of the whole
 * source, and other bytes follow.
 */
void mp_view_ended(VALUE view, size_t end);

/* The bytes of a View. DecodeError if they are incomplete or malformed; TypeError for an object of another class. */
mp_slice mp_view_slice(VALUE view);

/* A frozen binary String of the same bytes. Copies only short Strings. TypeError for anything that is not a String. */
VALUE mp_view_message(VALUE bytes);

/* TruncatedError if a part of a message is empty, LimitError if it is longer than max_bytes. */
void mp_view_check_size(VALUE message, size_t start, size_t end, const mp_options *options);

/*
 * Makes a View of the single object in a String. Checks the whole message if `checked` or if an option may refuse it.
 */
VALUE mp_view_of_message(VALUE bytes, VALUE codec, bool checked);

#endif
