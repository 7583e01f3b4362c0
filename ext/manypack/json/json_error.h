/* The errors of reading JSON: what is wrong, the path of the value, the line and the column. */
#ifndef MANYPACK_JSON_ERROR_H
#define MANYPACK_JSON_ERROR_H

#include "json/json_pack.h"

/* What an io had before the bytes in hand. */
typedef struct {
    size_t offset, line, column; /* bytes; lines, and characters of the last line, that are complete */
    size_t texts;                /* whole texts */
    bool stream;                 /* there may be more texts than one: the error says how many were whole */
} mp_json_origin;

/* Moves an origin past bytes that are done. */
void mp_json_pass(mp_json_origin *origin, const uint8_t *from, const uint8_t *to);

/* Raises the error of a packer that has failed. */
NORETURN(void mp_json_raise(mp_json_packer *t, mp_json_origin origin));

#endif
