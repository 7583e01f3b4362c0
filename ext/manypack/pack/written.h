/*
 * Checks what user code has written to a Packer: to_msgpack has to write one object, a recursive handler whole ones.
 *
 * Each byte is walked over once, however deeply to_msgpack methods are nested. When a writer returns, its object is
 * checked and noted, and the check of the object around it jumps over it. If a write is rescued, its notes go with it,
 * because they belong to the encoder until the write ends.
 */
#ifndef MANYPACK_WRITTEN_H
#define MANYPACK_WRITTEN_H

#include "base/support.h"

typedef enum {
    MP_WROTE_WHOLE, /* one object, or any number of them if that is allowed */
    MP_WROTE_NOTHING,
    MP_WROTE_PART,  /* the last object is incomplete */
    MP_WROTE_MORE,
    MP_WROTE_MALFORMED
} mp_written;

/* Where the checked objects are, a hidden String; 0 without any. */
typedef VALUE mp_notes;

/* Checks bytes that start at offset `from`. Needs the notes taken since that offset. */
mp_written mp_written_check(const uint8_t *bytes, size_t from, size_t to, mp_notes notes, bool several);

/* Adds a note about a whole object. Its offsets are in the same Buffer, after those of earlier notes. */
mp_notes mp_notes_add(mp_notes notes, size_t from, size_t to);

/* Appends the notes of one write to those of earlier writes. */
mp_notes mp_notes_join(mp_notes notes, mp_notes more);

#endif
