/* Finds the place in a JSON text of a value in the bytes packed from it, for errors about the bytes. */
#ifndef MANYPACK_JSON_PLACE_H
#define MANYPACK_JSON_PLACE_H

#include "json/json_error.h"

/* A text, the bytes packed from it, and how far the last search came. Lives on the C stack. */
typedef struct {
    VALUE text;            /* UTF-8, and frozen */
    VALUE packed;          /* not in canonical form: in the order of the text */
    mp_json_origin origin; /* place of the text in the io */
    mp_json_origin found;
    size_t at, packed_at;  /* the same place in both */
    bool searched;
    bool unlike;           /* the bytes lack some pairs of the text: a later pair has the same key */
} mp_json_places;

/* Sets *place to that of the object at an offset in the bytes. False if it is not known: see `unlike`. */
bool mp_json_place(mp_json_places *places, size_t offset, mp_json_origin *place);

#endif
