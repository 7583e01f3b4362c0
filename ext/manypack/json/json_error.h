/* The errors of reading JSON: what is wrong, the path of the value, the line and the column. */
#ifndef MANYPACK_JSON_ERROR_H
#define MANYPACK_JSON_ERROR_H

#include "json/json_pack.h"

/* The position of the current bytes in an io. */
typedef struct {
    size_t offset, line, column; /* bytes before; complete lines before; characters before in the last line */
    size_t texts;                /* whole texts before */
    bool stream;                 /* there may be more texts than one: the error says how many were whole */
} mp_json_origin;

/* Moves an origin past bytes that were read. */
void mp_json_pass(mp_json_origin *origin, const uint8_t *from, const uint8_t *to);

/* Appends how many texts of a stream were whole. */
void mp_json_append_whole(VALUE words, const mp_json_origin *origin);

/* Raises the error of a packer that has failed. */
NORETURN(void mp_json_raise(mp_json_packer *t, mp_json_origin origin));

#endif
