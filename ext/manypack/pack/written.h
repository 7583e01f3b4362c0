/*
 * Checks the bytes that user code has written to a Packer: to_msgpack must write exactly one object, a recursive
 * handler any number of complete objects.
 *
 * Each byte is walked over once, even if to_msgpack methods are nested. When a writer returns, its object is checked
 * and noted, and the check of the object around it skips it. If a write fails and is rescued, its notes are gone, too,
 * because they belong to the encoder until the write ends.
 */
#ifndef MANYPACK_WRITTEN_H
#define MANYPACK_WRITTEN_H

#include "base/support.h"

typedef enum {
    MP_WROTE_WHOLE, /* one complete object, or several if that is allowed */
    MP_WROTE_NOTHING,
    MP_WROTE_PART,  /* the last object is incomplete */
    MP_WROTE_MORE,
    MP_WROTE_MALFORMED,
    MP_WROTE_TOO_DEEP
} mp_written;

/* `room` is how deep the written containers may be nested; the check sets `most` to how deep they are. */
typedef struct {
    uint64_t *left; /* memory for `room` numbers, or for one per byte if there are fewer bytes */
    uint32_t room, most;
} mp_levels;

/* The places of checked objects, in a hidden String; 0 without any. */
typedef VALUE mp_notes;

/*
 * Checks the bytes from offset `from` to offset `to`. Needs the notes taken since offset `from`. several: more than one
 * object is allowed.
 */
mp_written mp_written_check(const uint8_t *bytes, size_t from, size_t to, mp_notes notes, bool several,
                            mp_levels *levels);

/*
 * Adds a note on a checked object with `levels` levels, at offsets of the same Buffer after those of earlier notes. A
 * short object gets none, unless `always`: set it for an ext, and for an object with notes inside, because only notes
 * know the levels in an ext.
 */
mp_notes mp_notes_add(mp_notes notes, size_t from, size_t to, uint32_t levels, bool always);

/* Moves notes to a copy of their bytes, which begins at an offset. */
void mp_notes_move(mp_notes notes, size_t offset);

/* Appends the notes of one write to those of earlier writes. */
mp_notes mp_notes_join(mp_notes notes, mp_notes more);

#endif
