/* A peek into a message: what a container has under a key, and the objects in it, without building the container. */
#ifndef MANYPACK_PEEK_H
#define MANYPACK_PEEK_H

#include "codec/codec.h"
#include "core/find.h"

/* How many containers can be passed over without memory from Ruby, plus the level in which a walk begins. */
#define MP_PEEK_PLACES 129

/*
 * Lives on the C stack and keeps what it refers to alive. All offsets are from the start of the message. The pointers
 * of look are valid until something allocates: refresh them then.
 */
typedef struct {
    mp_look look;
    VALUE message;        /* a String that nobody can change */
    VALUE codec_object;
    const mp_codec *codec;
    VALUE index;          /* as mp_view_index_new made it; 0 */
    VALUE memory;         /* lent by Ruby for a walk that may be deep */
    bool left_once;       /* user code ran: callcc may make it return again, when it still needs the memory */
    bool unique_keys;     /* to find a key that its map has twice is an error */
    bool text_keys;       /* a String finds its key even if symbolize_keys makes a Symbol of that */
    uint64_t places[MP_PEEK_PLACES];
} mp_peek;

/* Starts a peek into a message, which is not empty. index is its index or 0. */
void mp_peek_init(mp_peek *peek, VALUE message, VALUE codec, VALUE index);

/* Has it see the bytes and the index where they are now. */
void mp_peek_refresh(mp_peek *peek);

/* Call before user code runs. From then on the memory is left to the GC, because callcc may make it return again. */
MP_INLINE void
mp_peek_leave(mp_peek *peek)
{
    peek->left_once = true;
}

/* Frees now what the collector would free later. */
MP_INLINE void
mp_peek_end(mp_peek *peek)
{
    if (MP_UNLIKELY(peek->memory != 0) && !peek->left_once) ALLOCV_END(peek->memory);
    RB_GC_GUARD(peek->message);
    RB_GC_GUARD(peek->codec_object);
    RB_GC_GUARD(peek->index);
}

/* Raises the DecodeError that a status means at look.blame. */
NORETURN(void mp_peek_raise(const mp_peek *peek, mp_status status));

MP_INLINE void
mp_peek_check(const mp_peek *peek, mp_status status)
{
    if (MP_UNLIKELY(status != MP_OK)) mp_peek_raise(peek, status);
}

/* The kind of the object at an offset inside of the message. */
MP_INLINE mp_kind
mp_peek_kind(const mp_peek *peek, size_t offset)
{
    return (mp_kind)MP_WIRE[peek->look.bytes[offset]].kind;
}

MP_INLINE bool
mp_container_p(mp_kind kind)
{
    return kind == MP_ARRAY || kind == MP_MAP;
}

/* A Symbol for a kind, in the words of the specification: :map, :str, :integer. */
VALUE mp_kind_symbol(mp_kind kind);

/* Opens the container at an offset: the cursor is at the first object in it. TypeError if it is no container. */
mp_cursor mp_peek_open(mp_peek *peek, size_t offset);

/*
 * Moves a cursor that has just opened a container to the value of a key, or to the element of an index, which counts
 * from the end if it is negative. false without one; the cursor is at the end of a map then. Which of two equal keys
 * counts is up to the options. Runs user code for a key that is not nil, a boolean, a number, a String or a Symbol.
 */
bool mp_peek_find(mp_peek *peek, mp_cursor *cursor, VALUE key);

/* The offset after the object at an offset. */
size_t mp_peek_over(mp_peek *peek, size_t offset);

/* The object at an offset, built. Refreshes the peek. */
VALUE mp_peek_object(mp_peek *peek, size_t offset);

/* The same for a map key, as unpacking makes it. */
VALUE mp_peek_key(mp_peek *peek, size_t offset);

#endif
