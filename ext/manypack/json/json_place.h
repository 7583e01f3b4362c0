/* Where in a JSON text a value stands of which packed bytes were made, for errors about those. */
#ifndef MANYPACK_JSON_PLACE_H
#define MANYPACK_JSON_PLACE_H

#include "json/json_error.h"

/* A text, the bytes that were packed of it, and how far the last search came. Lives on the C stack. */
typedef struct {
    VALUE text;            /* UTF-8, and frozen */
    VALUE packed;          /* not in canonical form: in the order of the text */
    mp_json_origin origin; /* what an io had before the text */
    mp_json_origin found;
    size_t at, packed_at;  /* the same place in both */
    bool searched;
    bool unlike;           /* the bytes lack pairs of the text, whose keys come twice */
} mp_json_places;

/* Sets *place to that of the object at an offset in the bytes. False if it is not known: see `unlike`. */
bool mp_json_place(mp_json_places *places, size_t offset, mp_json_origin *place);

#endif
