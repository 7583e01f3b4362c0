/* The state of a decoder: its bytes, its position in them, and objects whose container is not built yet. */
#ifndef MANYPACK_DECODER_H
#define MANYPACK_DECODER_H

#include "base/error.h"
#include "caches/ractor.h"
#include "codec/codec.h"
#include "unpack/tree.h"
#include "unpack/value_stack.h"

typedef struct {
    VALUE source;               /* the String that holds the bytes; 0 if they are in a block of a Buffer */
    const uint8_t *start, *end; /* the current bytes */
    const uint8_t *at;          /* the first byte that is not decoded; after an error, where to continue */
    size_t origin;              /* offset of start in the whole input, for errors */
    size_t message;             /* offset of the current message in the whole input */
    size_t before;              /* bytes of the input before start in the source or block, if known */
    const mp_codec *codec;
    mp_ractor *ractor;          /* the state of the current Ractor; NULL until needed */
    uint32_t outer_depth;       /* containers around the whole input; above 0 in the body of an ext */
    uint32_t outer_keys;        /* how many of these are map keys */
    uint32_t max_depth;
    bool source_own;            /* nobody else can change the source */
    bool stack_enough;          /* the C stack was large enough when this decoder called user code */
    bool committed;             /* decoding can continue after an error, from tree and at */
    bool in_body;               /* the input is the body of an ext */
    bool may_call;              /* an ext or a rare key came, so building objects may run user code */
    uint64_t others;            /* objects that tree does not count: those around a part of a Record, and in exts */
    mp_tree tree;
    mp_value_stack stack;
} mp_decoder;

/* Starts a new message at d->at, which is at that offset of the whole input. */
MP_INLINE void
mp_decoder_restart(mp_decoder *d, size_t offset)
{
    d->origin = offset - (size_t)(d->at - d->start);
    d->message = offset;
    d->tree = (mp_tree){.left = mp_left_of_array(1), .depth_limit = d->max_depth, .objects = 1};
}

/* Initializes a decoder, without bytes. codec and words must outlive it. */
MP_INLINE void
mp_decoder_init(mp_decoder *d, const mp_codec *codec, mp_value_words *words)
{
    d->source = 0;
    d->start = d->end = d->at = NULL;
    d->codec = codec;
    d->ractor = NULL;
    d->outer_depth = d->outer_keys = 0;
    d->max_depth = mp_unpack_max_depth(&codec->options);
    d->source_own = false;
    d->stack_enough = false;
    d->committed = false;
    d->in_body = d->may_call = false;
    d->others = 0;
    mp_value_stack_lend(&d->stack, words);
    mp_decoder_restart(d, 0);
}

/* Frees memory now instead of leaving it to the collector. */
MP_INLINE void
mp_decoder_cleanup(mp_decoder *d)
{
    mp_value_stack_cleanup(&d->stack);
}

/* Gives the decoder the next len bytes, which are at start in source. */
MP_INLINE void
mp_decoder_source(mp_decoder *d, VALUE source, const uint8_t *start, size_t len)
{
    d->origin += (size_t)(d->at - d->start);
    d->before = 0;
    d->source = source;
    d->start = d->at = start;
    d->end = start + len;
}

/*
 * Takes the bytes away and returns how many were decoded. Between two pieces of input a decoder must not point into
 * either, because the Buffer changes meanwhile.
 */
MP_INLINE size_t
mp_decoder_detach(mp_decoder *d)
{
    size_t decoded = (size_t)(d->at - d->start);

    d->origin += decoded;
    d->before = 0;
    d->source = 0;
    d->start = d->at = d->end = NULL;
    return decoded;
}

/* The offset of at in the whole input. */
MP_INLINE size_t
mp_decoder_offset(const mp_decoder *d, const uint8_t *at)
{
    return d->origin + (size_t)(at - d->start);
}

/*
 * The current message, for an error. None in the body of an ext: only the outer decoder knows where the ext is. May
 * allocate, but does not move the decoder's bytes.
 */
mp_message mp_decoder_message(const mp_decoder *d);

/* The blame for an error whose head is at `at`. */
mp_blame mp_decoder_blame(const mp_decoder *d, const uint8_t *at);

/* The state of the current Ractor, looked up at the first use. */
MP_INLINE mp_ractor *
mp_decoder_ractor(mp_decoder *d)
{
    if (MP_UNLIKELY(!d->ractor)) d->ractor = mp_ractor_current();
    return d->ractor;
}

MP_INLINE mp_open_keys
mp_decoder_open_keys(const mp_decoder *d)
{
    return mp_tree_open_keys(&d->tree, d->stack.values, d->outer_keys);
}

/* The surroundings of an ext's body. */
typedef struct {
    uint32_t depth;     /* open containers, counting the ext */
    uint32_t max_depth; /* the limit in the body, which is lower in a map key */
    uint32_t keys;      /* how many of the containers are map keys */
    uint64_t objects;   /* of the whole message so far */
} mp_outer;

/* How many levels may be opened in the body. At least 1, for empty containers. */
MP_INLINE uint32_t
mp_outer_room(const mp_outer *outer)
{
    return outer->max_depth > outer->depth ? outer->max_depth - outer->depth : 1;
}

/* Doubles the value stack, which has count words in use. */
void mp_decoder_grow_stack(mp_decoder *d, size_t count);

/*
 * Replaces the source by a frozen String that nobody else can change. Must be called before user code runs, which might
 * change the source, and before a String shares the source. Cheap, because Ruby shares a long String instead of copying
 * it. Returns the new source's address for p.
 */
const uint8_t *mp_decoder_own_source(mp_decoder *d, const uint8_t *p);

/* Raises the exception for a status and blames the head at `at`. */
NORETURN(void mp_decoder_raise(mp_decoder *d, mp_status status, const uint8_t *at));

#endif
