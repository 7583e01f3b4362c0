/* The decoder: bytes in, objects out, by one loop that can stop where its bytes end. */
#ifndef MANYPACK_DECODE_H
#define MANYPACK_DECODE_H

#include "codec.h"
#include "ractor.h"
#include "value_stack.h"

/*
 * How many objects a container still lacks, keys and values counted apart, and what it is, in one word: the objects
 * twice, and one more in an array.
 */
#define MP_LEFT_ONE 2

MP_INLINE uint64_t
mp_left_of_map(uint32_t pairs)
{
    return (uint64_t)pairs * 2 * MP_LEFT_ONE;
}

MP_INLINE uint64_t
mp_left_of_array(uint32_t elements)
{
    return (uint64_t)elements * MP_LEFT_ONE + 1;
}

MP_INLINE uint64_t
mp_left_objects(uint64_t left)
{
    return left / MP_LEFT_ONE;
}

MP_INLINE bool
mp_left_none_p(uint64_t left)
{
    return left < MP_LEFT_ONE;
}

MP_INLINE bool
mp_left_map_p(uint64_t left)
{
    return (left & 1) == 0;
}

/* Whether it is a map and a key comes next. */
MP_INLINE bool
mp_left_key_p(uint64_t left)
{
    return left % (2 * MP_LEFT_ONE) == 0;
}

/*
 * Where in the tree the decoder is. Of the innermost open container this knows left and base; those of the ones around
 * it lie on the value stack below base, as the words of OPEN_WORDS.
 */
typedef struct {
    uint64_t left;   /* outside of all, of an array of one */
    size_t base;     /* where the container's objects start on the value stack */
    size_t count;    /* words in use of it */
    uint32_t depth;  /* open containers */
    uint32_t depth_limit; /* where no more may be opened: max_depth, or less where the last map key was */
    bool odd;             /* there was a NaN, or an object made by user code: keys could have the same hash */
    uint64_t objects;     /* so far, those included that containers declared; only where the codec is limited */
} mp_tree;

typedef struct {
    VALUE source;               /* the String that the bytes are in; 0 where they are in a block of a Buffer */
    const uint8_t *start, *end; /* the bytes at hand */
    const uint8_t *at;          /* the first that is not decoded; when something raised, what to go on with */
    size_t origin;              /* offset of start in the whole input, for errors */
    const mp_codec *codec;
    mp_ractor *ractor;          /* the current one; NULL until something that it keeps is needed */
    VALUE holder;               /* the object that this is in; 0 on the C stack */
    VALUE inner;                /* an Unpacker whose body has ended, for the next one; 0 */
    uint32_t outer_depth;       /* containers around the whole input: above 0 in the body of an ext */
    uint32_t outer_keys;        /* those of them that are map keys */
    uint32_t max_depth;
    bool source_own;            /* nobody else can change the source */
    bool stack_enough;          /* there was enough of the C stack when user code was called from here */
    bool committed;             /* tree and at are where to go on after an error */
    bool plain;                 /* it stops before it would call user code or raise anything but NoMemoryError */
    bool stopped;               /* for that reason, not because the bytes end */
    mp_tree tree;
    mp_value_stack stack;
} mp_decoder;

/* Has a decoder start anew outside of everything, at that offset of the whole input. */
MP_INLINE void
mp_decoder_restart(mp_decoder *d, size_t offset)
{
    d->origin = offset - (size_t)(d->at - d->start);
    d->tree = (mp_tree){.left = mp_left_of_array(1), .depth_limit = d->max_depth, .objects = 1};
}

/* Starts without bytes and outside of everything. codec and words must outlive the decoder. */
MP_INLINE void
mp_decoder_init(mp_decoder *d, const mp_codec *codec, mp_value_words *words)
{
    d->source = 0;
    d->start = d->end = d->at = NULL;
    d->codec = codec;
    d->ractor = NULL;
    d->holder = d->inner = 0;
    d->outer_depth = d->outer_keys = 0;
    d->max_depth = mp_unpack_max_depth(&codec->options);
    d->source_own = false;
    d->stack_enough = false;
    d->committed = false;
    d->plain = d->stopped = false;
    mp_value_stack_lend(&d->stack, words);
    mp_decoder_restart(d, 0);
}

/* Frees early what the collector would free. */
MP_INLINE void
mp_decoder_cleanup(mp_decoder *d)
{
    mp_value_stack_cleanup(&d->stack);
}

/* Gives it the len bytes at start, which are in source and the first after those it has decoded. */
MP_INLINE void
mp_decoder_source(mp_decoder *d, VALUE source, const uint8_t *start, size_t len)
{
    d->origin += (size_t)(d->at - d->start);
    d->source = source;
    d->start = d->at = start;
    d->end = start + len;
}

/*
 * Takes the bytes away from it, and returns how many of them it decoded. Between two pieces of input a decoder has no
 * pointer into either, since the Buffer that they are in changes meanwhile.
 */
MP_INLINE size_t
mp_decoder_detach(mp_decoder *d)
{
    size_t decoded = (size_t)(d->at - d->start);

    d->origin += decoded;
    d->source = 0;
    d->start = d->at = d->end = NULL;
    return decoded;
}

/*
 * Decodes on. Returns the object, or Qundef when the bytes end before it does; d->at then is at the head that
 * lacks something. Raises the errors of error.h and what user code raises. With d->committed, d->at is then behind the
 * object to blame, which d->tree counts as still to come; without, decoding cannot go on.
 */
VALUE mp_decode_on(mp_decoder *d);

/*
 * The number, short str, nil or boolean that is whole at *p, which is moved behind it; Qundef, and *p stays, for
 * anything else. For options without limits. Allocates: the String with the bytes is on the caller's stack. Raises
 * nothing but NoMemoryError.
 */
VALUE mp_decode_short(const mp_options *options, const uint8_t **p, const uint8_t *end);

/* What a message has around the body of an ext. */
typedef struct {
    uint32_t depth;     /* open containers */
    uint32_t max_depth; /* how many there may be in the body; fewer than elsewhere where it is in a map key */
    uint32_t keys;      /* those that are map keys */
    uint64_t objects;   /* so far, in all of the message */
} mp_around;

/* Fills left, of as many places as the tree is deep, with what is still to come at each level, outermost first. */
void mp_tree_lefts(const mp_tree *tree, const VALUE *values, uint64_t *left);

/*
 * Bytes that the tree has at least behind the object that it is at. Counts the innermost levels only, so that the io
 * which answers a byte at a time costs no more in a deep object.
 */
uint64_t mp_tree_missing(const mp_tree *tree, const VALUE *values);

/* Unpacks the one object in a String. Raises the errors of error.h and what user code raises. */
VALUE mp_decode_whole(VALUE source, const mp_codec *codec);

#endif
