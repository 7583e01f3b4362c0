/*
 * The canonical form of packed bytes: each value has one such form, to sign, hash and cache. docs/canonical.md has the
 * rules.
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
 * Both functions take the object at *p and set *p to its end. On any status except MP_OK, *p is at the head to blame;
 * for an error about a key, at the head of the key. All bytes must be present. Bytes after the object are not read.
 *
 * At most max_depth containers may be open; in keys, limit.h allows fewer. open and nodes are working memory: their
 * contents do not matter, but each block must be aligned like a uint64_t. open takes 72 bytes for each open container,
 * nodes 32 bytes for each map and each pair; a finished map frees its nodes if nothing inside it is reordered. A window
 * that cannot grow may leave by longjmp: the functions own nothing. Then *p has not moved.
 *
 * Takes linear time, and n log n for maps whose keys must be sorted. Depth takes no C stack.
 */

/*
 * MP_OK if the object is canonical. Otherwise the status of the first place that is not: one of mp_skip or
 * mp_timestamp_read, MP_E_UTF8, MP_E_KEY_DEPTH, MP_E_FORM, MP_E_KEY_ORDER, MP_E_DUPLICATE_KEY or MP_E_NAN_KEY. The
 * order of a key is checked at its end.
 */
mp_status mp_canonical_check(const uint8_t **p, const uint8_t *end, size_t max_depth, mp_out *open);

/*
 * Appends the canonical form to out; it has no more bytes than the object. Appends nothing unless it returns MP_OK. For
 * values without a canonical form, returns a status of mp_canonical_check, but never MP_E_FORM or MP_E_KEY_ORDER.
 */
mp_status mp_canonical_write(const uint8_t **p, const uint8_t *end, size_t max_depth, mp_out *open, mp_out *nodes,
                             mp_out *out);

#endif
