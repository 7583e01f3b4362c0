/*
 * The canonical form of packed bytes: one form for one value, to sign, hash and cache. docs/canonical.md has the rules.
 *
 *     typedef struct { mp_out out; ... } window;    grows as out.h says, best to twice its size
 *
 *     window open, nodes, out;                      out.out began with n + MP_HEAD_MAX bytes, so that it never grows
 *     const uint8_t *p = bytes;
 *
 *     status = mp_canonical_check(&p, bytes + n, 1000, &open.out);
 *     if (status == MP_OK && p == bytes + n) return sign(bytes, n);
 *
 *     p = bytes;
 *     status = mp_canonical_write(&p, bytes + n, 1000, &open.out, &nodes.out, &out.out);
 *     if (status != MP_OK) return refuse(mp_status_text(status), p - bytes);
 *     return sign(out.out.start, mp_out_size(&out.out));
 */
#ifndef MP_CANONICAL_H
#define MP_CANONICAL_H

#include "out.h"
#include "status.h"

/*
 * Both take the object at *p and set *p to its end. On any status but MP_OK, *p is at the head to blame: that of the
 * key, if it is about a key. All bytes must be present; those after the object are not looked at.
 *
 * max_depth is how many containers may be open; limit.h also limits those in keys. open and nodes are working
 * memory: their contents do not matter, but each block must be aligned as a uint64_t is. open takes 72 bytes for each
 * open container, nodes 32 for each map and each pair; those of a finished map are free again if nothing in it changes
 * places. A window that cannot grow leaves through both functions, which hold nothing; then *p has not moved.
 *
 * Time is linear in the bytes, and for maps whose keys have to be sorted n log n. Depth costs no C stack.
 */

/*
 * Finds the first place that is not canonical: a status of mp_validate, MP_E_KEY_DEPTH, MP_E_FORM, MP_E_KEY_ORDER,
 * MP_E_DUPLICATE_KEY or MP_E_NAN_KEY. The order of a key is checked after the key has been passed.
 */
mp_status mp_canonical_check(const uint8_t **p, const uint8_t *end, size_t max_depth, mp_out *open);

/*
 * Appends the canonical form to out, in no more bytes than the object has; nothing unless it returns MP_OK. For values
 * without a canonical form: a status of mp_validate, MP_E_KEY_DEPTH, MP_E_DUPLICATE_KEY, MP_E_NAN_KEY.
 */
mp_status mp_canonical_write(const uint8_t **p, const uint8_t *end, size_t max_depth, mp_out *open, mp_out *nodes,
                             mp_out *out);

#endif
