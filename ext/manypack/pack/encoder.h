/* The state of an encoder: the window that it writes to, and its position in the packed object. */
#ifndef MANYPACK_ENCODER_H
#define MANYPACK_ENCODER_H

#include "base/error_path.h"
#include "base/stack.h"
#include "buffer/buffer_object.h"
#include "caches/ractor.h"
#include "codec/codec.h"
#include "core/out.h"
#include "pack/written.h"

/* An encoder starts with this many bytes of C stack, enough for most messages. */
#define MP_ENCODER_BLOCK 4096

/*
 * A walk over one object. Lives on the C stack, where the collector finds its VALUEs. The window is on the caller's
 * block at first, then on a String that becomes the result. When user code has to write, the window moves to the Buffer
 * of a Packer; the encoder of a Packer has it there from the start. Bytes in a Buffer count only once the encoder
 * commits them, so an exception leaves nothing to undo, except early commits, which the Buffer's loan settles.
 */
typedef struct {
    mp_out out;              /* first, because mp_encoder_grow casts it to the encoder */
    VALUE str;               /* the String with the window; 0 while the window is elsewhere */
    VALUE buffer;            /* the Buffer with the window; 0 while the window is elsewhere */
    VALUE packer;            /* for user code to write to; 0 until user code runs. Its Buffer is `buffer` */
    const mp_codec *codec;
    const mp_place *place;
    mp_ractor *ractor;       /* of the current Ractor; NULL until needed */
    VALUE last_class;        /* class of the last foreign object, and its ext type or NULL */
    const mp_type *last_type;
    VALUE attached_class;    /* class of the last object with an attached Record, and its Type; 0 before the first */
    VALUE attached_type;
    mp_notes notes;          /* notes on objects that user code wrote */
    bool keeps_notes;        /* for a Packer that gets a copy of the bytes */
    uint32_t depth, max_depth;
} mp_encoder;

MP_STATIC_ASSERT(encoder_begins_with_its_window, offsetof(mp_encoder, out) == 0);

/* Grows the window. NoMemoryError. */
void mp_encoder_grow(mp_out *out, size_t n);

/* How many containers may be open at once. */
MP_INLINE uint32_t
mp_encoder_containers(const mp_codec *codec)
{
    return codec->options.max_depth ? codec->options.max_depth : MP_DEFAULT_MAX_DEPTH;
}

/* How many containers are open around the next object. Calls of to_msgpack are levels, but not containers. */
MP_INLINE uint32_t
mp_encoder_open_containers(const mp_encoder *e)
{
    return e->depth - (e->max_depth - mp_encoder_containers(e->codec));
}

/* Starts with the window on the caller's block. The block and the codec must outlive the encoder. */
MP_INLINE void
mp_encoder_init(mp_encoder *e, uint8_t *block, size_t size, const mp_codec *codec)
{
    mp_poison(block, size);
    mp_out_init(&e->out, block, size, mp_encoder_grow);
    e->str = 0;
    e->buffer = 0;
    e->packer = 0;
    e->codec = codec;
    e->place = NULL;
    e->ractor = NULL;
    e->last_class = 0;
    e->attached_class = 0;
    e->notes = 0;
    e->keeps_notes = false;
    e->depth = 0;
    e->max_depth = mp_encoder_containers(codec);
}

/* Moves the window to the Buffer, which has size uncommitted bytes already, and makes room for n more. */
MP_INLINE void
mp_encoder_window_on_buffer(mp_encoder *e, size_t size, size_t n)
{
    size_t room;

    e->out.start = mp_bytes_reserve(e->buffer, &mp_buffer_get(e->buffer)->bytes, size, n, &room);
    e->out.pos = e->out.start + size;
    e->out.end = e->out.start + room;
}

/*
 * Starts with the window on the Buffer of a Packer, at the depth of its loan. `calls` is how many levels of that depth
 * are calls of to_msgpack, which do not count towards max_depth.
 */
MP_INLINE void
mp_encoder_init_packer(mp_encoder *e, VALUE packer, VALUE buffer, const mp_codec *codec, uint32_t calls)
{
    mp_encoder_init(e, NULL, 0, codec);
    e->packer = packer;
    e->buffer = buffer;
    e->depth = mp_buffer_get(buffer)->loan.depth;
    e->max_depth += calls;
    mp_loan_start(&mp_buffer_get(buffer)->loan);
    mp_encoder_window_on_buffer(e, 0, 1);
}

/* Commits the written bytes to the Buffer. */
MP_INLINE void
mp_encoder_commit(mp_encoder *e)
{
    mp_bytes_commit(&mp_buffer_get(e->buffer)->bytes, mp_out_size(&e->out));
    e->out.start = e->out.pos;
}

/* Commits the bytes before the write is complete. If the write fails, they are discarded. */
MP_INLINE void
mp_encoder_commit_early(mp_encoder *e)
{
    mp_buffer *buffer = mp_buffer_get(e->buffer);

    mp_loan_begin(&buffer->loan, &buffer->bytes);
    mp_encoder_commit(e);
}

/* Returns the packed message as a String. */
VALUE mp_encoder_result(mp_encoder *e);

/*
 * Calls a function that may run user code or switch Threads. Meanwhile nobody else can use the Buffer, because its last
 * bytes are uncommitted.
 */
VALUE mp_encoder_call_taken(mp_encoder *e, VALUE (*call)(VALUE), VALUE arg);

/* Like mp_encoder_call_taken. Prepends the path of the current place to errors of packing from the call. */
VALUE mp_encoder_call_placed(mp_encoder *e, VALUE (*call)(VALUE), VALUE arg);

/* The state of the current Ractor. */
MP_INLINE mp_ractor *
mp_encoder_ractor(mp_encoder *e)
{
    if (MP_UNLIKELY(!e->ractor)) e->ractor = mp_ractor_current();
    return e->ractor;
}

/* Raises an exception with the message "WORDS, at PATH" and the suffix, unless it is NULL. PATH is e->place's. */
PRINTF_ARGS(NORETURN(void mp_encoder_raise(const mp_encoder *e, VALUE klass, const char *suffix, const char *format,
                                           ...)), 4, 5);

/* ArgumentError and NestingError, with the path of the place. */
NORETURN(void mp_encoder_raise_too_long(const mp_encoder *e, VALUE obj));
NORETURN(void mp_encoder_raise_too_deep(const mp_encoder *e));

/* RuntimeError: user code changed an Array or Hash whose head is already written. */
NORETURN(void mp_encoder_raise_modified(const mp_encoder *e, const char *what));

/* The length of an object for its head. ArgumentError above 4294967295. */
MP_INLINE uint32_t
mp_encoder_length(const mp_encoder *e, VALUE obj, size_t n)
{
    if (MP_UNLIKELY(n > UINT32_MAX)) mp_encoder_raise_too_long(e, obj);
    return (uint32_t)n;
}

/*
 * mp_encoder_open opens a level and appends place to the path; NestingError if it is too deep. mp_encoder_close closes
 * it.
 */
MP_INLINE void
mp_encoder_open(mp_encoder *e, mp_place *place)
{
    uint32_t depth = e->depth + 1;

    if (MP_UNLIKELY(depth > e->max_depth || mp_stack_too_deep_p(depth))) {
        mp_encoder_raise_too_deep(e);
    }
    place->up = e->place;
    e->place = place;
    e->depth = depth;
}

MP_INLINE void
mp_encoder_close(mp_encoder *e, const mp_place *place)
{
    e->place = place->up;
    e->depth--;
}

/*
 * A walk over a Hash whose head is written. After each pair, rb_hash_foreach may compare the key with others. The walk
 * is paused meanwhile if that can run user code.
 */
typedef struct {
    mp_encoder *e;
    mp_place place;
    size_t left;        /* pairs of the head that are not written yet; 0 during a pause */
    size_t left_paused; /* the same, during a pause */
    bool paused;
    uint32_t pause;     /* its number */
} mp_pairs;

/* Starts a walk over n pairs. */
MP_INLINE void
mp_pairs_init(mp_pairs *pairs, mp_encoder *e, size_t n)
{
    pairs->e = e;
    pairs->place.key = Qnil;
    pairs->left = n;
    pairs->paused = false;
}

/* Ends a walk that is paused or has pairs left. RuntimeError if pairs are left. */
void mp_pairs_end(mp_pairs *pairs);

/*
 * Calls a function for each pair. RuntimeError if the Hash has more or fewer pairs than its head says. True if the walk
 * ended in a pause: then all bytes are committed, and out.pos may have moved.
 */
MP_INLINE bool
mp_pairs_each(mp_pairs *pairs, VALUE hash, int (*each)(VALUE key, VALUE value, VALUE pairs))
{
    rb_hash_foreach(hash, each, (VALUE)pairs);
    if (MP_LIKELY(!pairs->left && !pairs->paused)) return false;
    mp_pairs_end(pairs);
    return true;
}

/* Ends a pause before the next pair. RuntimeError if others have used the Buffer, or if the walk is not paused. */
void mp_pairs_go_on(mp_pairs *pairs);

/* Pauses the walk unless comparing the key runs no user code. */
void mp_pairs_pause(mp_pairs *pairs, VALUE key);

/* True for the keys of most Hashes. Comparing such a key with any other runs no user code. */
MP_INLINE bool
mp_plain_key_p(VALUE key)
{
    return RB_SPECIAL_CONST_P(key) || RBASIC_CLASS(key) == rb_cString;
}

/* For the function that mp_pairs_each calls: first mp_pairs_next, and mp_pairs_passed when the pair is written. */
MP_INLINE void
mp_pairs_next(mp_pairs *pairs, VALUE key)
{
    pairs->place.key = key;
    if (MP_UNLIKELY(pairs->left-- == 0)) mp_pairs_go_on(pairs);
}

MP_INLINE int
mp_pairs_passed(mp_pairs *pairs, VALUE key)
{
    if (MP_UNLIKELY(!mp_plain_key_p(key))) mp_pairs_pause(pairs, key);
    return ST_CONTINUE;
}

#endif
