/*
 * What user code has written to a Packer: to_msgpack has to write one object, and a recursive handler whole ones.
 *
 * Each byte is walked over once, however deeply to_msgpack methods are nested: an object that was checked when its
 * writer returned is noted, and the check of the object around it steps over it. A rescued write takes its notes along,
 * because they belong to the encoder until the write ends.
 */
#ifndef MANYPACK_WRITTEN_H
#define MANYPACK_WRITTEN_H

#include "support.h"

typedef enum {
    MP_WROTE_WHOLE, /* one object, or any number of them if that is allowed */
    MP_WROTE_NOTHING,
    MP_WROTE_PART,  /* the last object is not whole */
    MP_WROTE_MORE,
    MP_WROTE_MALFORMED
} mp_written;

/* Notes of checked objects; 0 is none. */
typedef VALUE mp_notes;

/* Checks the bytes, which start at offset from. The notes are those taken since then. */
mp_written mp_written_check(const uint8_t *bytes, size_t from, size_t to, mp_notes notes, bool several);

/* The notes, with one more about a whole object: offsets in the same Buffer, later than those noted before. */
mp_notes mp_notes_add(mp_notes notes, size_t from, size_t to);

/* The notes of one write after those of others. */
mp_notes mp_notes_join(mp_notes notes, mp_notes more);

#endif
