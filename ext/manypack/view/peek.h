/*
 * A peek: finds values in a message by key or index, and builds single objects of it, without building their
 * containers.
 */
#ifndef MANYPACK_PEEK_H
#define MANYPACK_PEEK_H

#include "codec/codec.h"
#include "core/find.h"

/* The depth up to which containers are skipped without allocating memory, plus the level in which a walk begins. */
#define MP_PEEK_PLACES 129

/*
 * Lives on the C stack and keeps what it refers to alive. All offsets count from the start of the message. The pointers
 * in look are valid until something allocates: then call mp_peek_refresh.
 */
typedef struct {
    mp_look look;
    VALUE message;        /* a String that nobody can change */
    VALUE codec_object;
    const mp_codec *codec;
    VALUE index;          /* of the message; or 0 */
    VALUE memory;         /* owns the memory for a deep walk; 0 without one */
    bool alone;           /* the message must end after its object; not checked yet */
    bool outermost;       /* the container opened last is the whole message */
    bool in_turn;         /* after a search the cursor continues from the value: for keys in the map's order */
    uint64_t places[MP_PEEK_PLACES];
} mp_peek;

/* Starts a peek into a message, which must not be empty. index is the message's Index or 0. */
void mp_peek_init(mp_peek *peek, VALUE message, VALUE codec, VALUE index);

/* Updates the pointers to the bytes and to the tape of the Index. */
void mp_peek_refresh(mp_peek *peek);

/* Frees now what the collector would free later. */
MP_INLINE void
mp_peek_end(mp_peek *peek)
{
    if (MP_UNLIKELY(peek->memory != 0)) ALLOCV_END(peek->memory);
    RB_GC_GUARD(peek->message);
    RB_GC_GUARD(peek->codec_object);
    RB_GC_GUARD(peek->index);
}

/* Raises the DecodeError for a status, at look.blame. */
NORETURN(void mp_peek_raise(const mp_peek *peek, mp_status status));

/* Raises ShapeError for the object at an offset, which must be inside the message. */
NORETURN(void mp_peek_raise_shape(const mp_peek *peek, const char *expected, size_t offset));

/* MalformedFormatError unless the message ends at an offset. */
void mp_peek_ended(const mp_peek *peek, size_t end);

MP_INLINE void
mp_peek_check(const mp_peek *peek, mp_status status)
{
    if (MP_UNLIKELY(status != MP_OK)) mp_peek_raise(peek, status);
}

/* Finds the next value of a key in a map, from the cursor on, and moves the cursor to it. False if there is none. */
MP_INLINE bool
mp_peek_next_value(const mp_peek *peek, mp_cursor *cursor, const mp_key *key, size_t *value)
{
    mp_peek_check(peek, mp_find(cursor, key, MP_FIND_FIRST, value));
    return *value != 0;
}

/*
 * Which of two equal keys counts: the last, as in unpacking, unless the options say the first. If they forbid equal
 * keys, the message was checked before, and a search can end at the first.
 */
MP_INLINE mp_find_which
mp_peek_which(const mp_options *options)
{
    return options->last_key ? MP_FIND_LAST : MP_FIND_FIRST;
}

/* The kind of the object at an offset, which must be inside the message. */
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

/* The Fixnum at an offset, which must be inside the message; Qundef for any other object, or near the message's end. */
MP_INLINE VALUE
mp_peek_fixnum(const mp_peek *peek, size_t offset)
{
    const uint8_t *p = peek->look.bytes + offset;
    mp_wire_row row;
    int64_t n;

    if (!mp_ahead_p(p, peek->look.bytes + peek->look.size)) return Qundef;
    row = mp_row_ahead(p);
    if (!mp_row_integer_p(row)) return Qundef;
    n = mp_int_ahead(p, row);
    return (row.kind == MP_UINT && n < 0) || !RB_FIXABLE(n) ? Qundef : LONG2FIX((long)n);
}

/* A Symbol for a kind, in the words of the specification: :map, :str, :integer. */
VALUE mp_kind_symbol(mp_kind kind);

/* Opens the container at an offset: the cursor is at its first object. ShapeError if it is no container. */
void mp_peek_open(mp_peek *peek, mp_cursor *cursor, size_t offset);

/*
 * Finds a key in a map or an index in an array, as View#[] does. The cursor must have just opened the container, and
 * moves to the value or element. False if there is none.
 *
 * In an array, a negative index counts from the end, and anything but an index raises ShapeError. In a map, a Symbol
 * and a String of the same text find the same str, and the options decide which of two equal keys counts. If in_turn is
 * set and the map does not have the key, the cursor is at the map's end. Without in_turn, only cursor->at is valid, and
 * only if the key is found.
 *
 * Runs user code unless the key is nil, a boolean, a number, a String or a Symbol.
 */
bool mp_peek_find(mp_peek *peek, mp_cursor *cursor, VALUE key);

/*
 * Makes a key of obj that the core can search for; it refers to the bytes of obj. False if objects have to be compared.
 */
bool mp_simple_key(VALUE obj, mp_key *key);

/* True if an ext may become a String, a number or another simple key. Timestamps and ExtensionValues never do. */
MP_INLINE bool
mp_ext_keys_p(const mp_codec *codec)
{
    return mp_types_unpack_p(codec->types);
}

/* The offset after the object at an offset. */
size_t mp_peek_over(mp_peek *peek, size_t offset);

/* Builds the object at an offset. Refreshes the peek. */
VALUE mp_peek_object(mp_peek *peek, size_t offset);

/* Builds a map key as unpacking does. Refreshes the peek. */
VALUE mp_peek_key(mp_peek *peek, size_t offset);

#endif
