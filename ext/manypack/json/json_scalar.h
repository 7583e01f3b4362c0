/* Writes strings, bytes and timestamps as JSON. json/decimal.h has numbers. */
#ifndef MANYPACK_JSON_SCALAR_H
#define MANYPACK_JSON_SCALAR_H

#include "base/support.h"
#include "core/out.h"
#include "core/timestamp.h"

/* How strings are written. */
typedef struct {
    const uint8_t *readable; /* the end of readable memory: the last block of a string may reach past the string */
    uint8_t also;            /* one more byte to escape, which JSON allows; 0 for none */
    bool careful;            /* characters beyond ASCII may need an escape: one of the following is set */
    bool ascii_only;         /* escape all of them */
    bool script_safe;        /* escape U+2028 and U+2029 */
    bool hidden;             /* escape those that a terminal would obey or not show */
} mp_json_style;

/*
 * This many bytes are free before each element: enough for a short key and value, the punctuation, and the bytes that
 * blocks overwrite after them.
 */
enum { MP_JSON_ROOM = 160 };

/* Makes room for n bytes and MP_JSON_ROOM more. */
MP_INLINE uint8_t *
mp_json_room(mp_out *out, uint8_t *to, size_t n)
{
    if (MP_LIKELY((size_t)(out->end - to) >= n + MP_JSON_ROOM)) return to;
    mp_out_commit(out, to);
    return mp_out_reserve(out, n + MP_JSON_ROOM);
}

/*
 * Each writes a JSON string and returns the place after it. mp_json_put_string takes text, and returns NULL if it is
 * not valid UTF-8; mp_json_put_base64 and mp_json_put_hex take any bytes; mp_json_put_timestamp writes RFC 3339.
 * mp_json_put_base64_digits leaves out the quotes.
 */
uint8_t *mp_json_put_string(const mp_json_style *style, mp_out *out, uint8_t *to, const uint8_t *p, size_t n);
uint8_t *mp_json_put_base64(const mp_json_style *style, mp_out *out, uint8_t *to, const uint8_t *p, size_t n);
uint8_t *mp_json_put_base64_digits(const mp_json_style *style, mp_out *out, uint8_t *to, const uint8_t *p, size_t n);
uint8_t *mp_json_put_hex(mp_out *out, uint8_t *to, const uint8_t *p, size_t n);
uint8_t *mp_json_put_timestamp(mp_out *out, uint8_t *to, mp_timestamp timestamp);

#endif
