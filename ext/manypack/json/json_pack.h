/* Packs JSON texts, without objects in between. */
#ifndef MANYPACK_JSON_PACK_H
#define MANYPACK_JSON_PACK_H

#include "codec/codec.h"
#include "json/json_cursor.h"
#include "json/json_keys.h"
#include "json/json_noted.h"

enum { MP_JSON_BIGNUM_MOST = 10000 }; /* digits: making an Integer of n digits takes more than n steps */

/* An open container. */
typedef struct {
    size_t head;    /* offset in the output */
    uint32_t n;     /* elements or pairs so far, with the one that is being read */
    uint32_t map;   /* the number of a map in the text; 0 for an array */
    uint32_t noted; /* number of noted keys of the maps around it */
    uint16_t key;   /* its last known key */
} mp_json_frame;

typedef struct {
    mp_json_cursor c;
    const mp_codec *codec;
    const uint8_t *start;  /* of the text */
    mp_window out;
    mp_window frames;      /* an mp_json_frame for each open container */
    mp_json_noted noted;
    mp_known_keys *known;  /* NULL if all keys are noted */
    size_t before;         /* size of the output before this text */
    size_t twice;          /* offset in the output of a duplicate key; 0 if it is not known */
    uint64_t objects;
    uint32_t depth, max_depth, maps;
    bool limited, compatible, last_key;
    bool repeated;         /* some keys of the text are equal */
    bool odd;              /* a key starts with $, or the text is very deep: the program manypack reads it again */
    bool pending;          /* the value to blame is that of the last key, or the last element */
    mp_status limit;       /* the limit that it exceeds; MP_OK for max_bytes */
} mp_json_packer;

/*
 * Packs the text at p, after white space, at the end of the output. Returns the place after it, or NULL: then the
 * cursor has the fault. If `whole`, only white space may follow.
 */
const uint8_t *mp_json_pack(mp_json_packer *t, const uint8_t *p, bool whole);

/* The path to the value to blame, a String. */
VALUE mp_json_path(mp_json_packer *t);

#endif
