/*
 * An index of the containers in a message, written by a checked walk that goes only as far as it is asked to. With it,
 * passing over a container takes one look at its entry.
 *
 *   mp_tape tape;
 *   size_t end;
 *
 *   mp_tape_init(&tape, bytes, size, 128, MP_TAPE_KEEP);
 *   tape.grow = more_entries;                   // before the first walk
 *   status = mp_tape_over(&tape, offset, &near, &end); // the end of the container at offset; walks there if need be
 *   status = mp_tape_finish(&tape);             // all of it: the message is whole and well formed
 *   if (status == MP_OK && tape.at < size) ...  // other bytes follow it
 *
 * With tape.checks, set before the first walk, it refuses what an unpacker with such options refuses. unique_keys costs
 * at most n log n comparisons for a map of n keys and, while the map is being closed, an entry for each key.
 *
 * A tape that keeps no closed containers and ends at an offset has those around it, entries[0] the outermost, up to
 * entries[depth - 1]: trail.h finds the way to a place by them.
 */
#ifndef MP_TAPE_H
#define MP_TAPE_H

#include "check.h"
#include "platform.h"
#include "status.h"
#include "tape_entry.h"

/* Smaller containers have no entry: passing over one takes no longer than finding its entry would. */
#define MP_TAPE_KEEP 64
#define MP_TAPE_KEEP_NONE UINT32_MAX

typedef struct mp_tape mp_tape;

struct mp_tape {
    const uint8_t *bytes; /* may be changed between calls if the bytes have moved */
    mp_tape_entry *entries;
    uint32_t size;
    uint32_t count, capacity; /* entries in use, and places */
    uint32_t innermost;       /* open container, unless depth is 0 */
    uint32_t depth;           /* open containers */
    uint32_t max_depth;
    uint32_t keep;            /* smaller containers lose their entry when they are closed */
    uint32_t at;              /* how far the walk has come; after an error, the head to blame */
    mp_status status;         /* after an error the walk does not continue */
    const mp_check *checks;  /* NULL: the structure and max_depth only */
    uint64_t objects;         /* so far, including those that containers declared; only with checks */
    /*
     * Makes room for at least one more entry: entries may move, capacity changes. Returns false if it cannot; it may
     * also leave by longjmp. The tape ends there with MP_E_NO_ROOM.
     */
    bool (*grow)(mp_tape *tape);
};

/*
 * Starts without entries. size is that of the message and of the bytes that follow it. keep is at most MP_TAPE_KEEP; or
 * MP_TAPE_KEEP_NONE, only for mp_tape_finish without checks. MP_E_TAPE_RANGE if offsets do not fit; such a tape cannot
 * be used.
 */
mp_status mp_tape_init(mp_tape *tape, const uint8_t *bytes, size_t size, uint32_t max_depth, uint32_t keep);

/* Walks to the end of the message. All walks of a tape together are linear in its size. */
mp_status mp_tape_finish(mp_tape *tape);

/*
 * Sets *end to the end of the container whose head is at offset, which must be inside the message and not in a payload;
 * walks on if it has to. *near is an entry to try first: 0, or what the last call for an earlier object left.
 */
mp_status mp_tape_over(mp_tape *tape, size_t offset, uint32_t *near, size_t *end);

/* True if the whole message is indexed. */
MP_INLINE bool
mp_tape_whole_p(const mp_tape *tape)
{
    return tape->at && !tape->depth && tape->status == MP_OK;
}

/* After an error: the offset of the head to blame. */
MP_INLINE size_t
mp_tape_blame(const mp_tape *tape)
{
    return tape->status == MP_E_DUPLICATE_KEY ? tape->entries[tape->innermost].offset : tape->at;
}

/* How many objects of an open container come before the one that the walk is at. */
uint32_t mp_tape_place(const mp_tape *tape, uint32_t entry);

#endif
