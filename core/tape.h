/*
 * An index of the containers in a message, written by a checked walk that goes only as far as it is asked. It makes
 * passing over a container one look at its entry.
 *
 *   mp_tape tape;
 *   size_t end;
 *
 *   mp_tape_init(&tape, bytes, size, 128, MP_TAPE_KEEP);
 *   tape.grow = more_entries;                   // before the first walk
 *   status = mp_tape_over(&tape, offset, &near, &end); // behind the container at offset; walks there if need be
 *   status = mp_tape_finish(&tape);             // all of it: the message is whole and well formed
 *   if (status == MP_OK && tape.at < size) ...  // other bytes behind it
 *
 * With tape.checks, set before the first walk, it refuses what an unpacker with such options does. unique_keys costs
 * n log n comparisons for a map of n keys, never more, and for as long as the map is closed an entry for each key.
 *
 * The containers around an offset, for a message that says where something is wrong: end a tape there that keeps no
 * closed containers, and read the open ones, which then are entries[0], the outermost, to entries[depth - 1].
 *
 *   mp_tape_init(&tape, bytes, offset, UINT32_MAX, MP_TAPE_KEEP_NONE);
 *   mp_tape_finish(&tape);                      // MP_E_TRUNCATED
 *   for (i = 0; i < tape.depth; i++)            // the head is at tape.entries[i].offset
 *       object = mp_tape_place(&tape, i);       // in a map, keys and values counted apart
 *
 * A cursor at entries[i].offset that passes over all but the last object before that one is at the key of a value.
 */
#ifndef MP_TAPE_H
#define MP_TAPE_H

#include "check.h"
#include "platform.h"
#include "status.h"
#include "tape_entry.h"

/* Containers of fewer bytes have no entry: passing over one takes no longer than finding it would. */
#define MP_TAPE_KEEP 64
#define MP_TAPE_KEEP_NONE UINT32_MAX

typedef struct mp_tape mp_tape;

struct mp_tape {
    const uint8_t *bytes; /* may be set anew between calls when the bytes have moved */
    mp_tape_entry *entries;
    uint32_t size;
    uint32_t count, capacity; /* entries in use, and places */
    uint32_t innermost;       /* open container; where depth is not 0 */
    uint32_t depth;           /* open containers */
    uint32_t max_depth;
    uint32_t keep;            /* the least bytes of a container that has an entry when it is closed */
    uint32_t at;              /* how far the walk has come; at an error the head to blame */
    mp_status status;         /* an error, after which the walk does not go on */
    const mp_check *checks;  /* NULL: the structure and max_depth only */
    uint64_t objects;         /* so far, those included that containers declared; only with checks */
    /*
     * Makes room for at least one more entry: entries may move, capacity changes. Returns false when it cannot; it may
     * also leave by longjmp. The tape ends there with MP_E_NO_ROOM.
     */
    bool (*grow)(mp_tape *tape);
};

/*
 * Starts without entries. size is that of the message, other bytes behind it included. keep is at most MP_TAPE_KEEP;
 * or MP_TAPE_KEEP_NONE, for mp_tape_finish without checks only. MP_E_TAPE_RANGE where offsets do not fit; such a tape
 * cannot be used.
 */
mp_status mp_tape_init(mp_tape *tape, const uint8_t *bytes, size_t size, uint32_t max_depth, uint32_t keep);

/* Walks to the end of the message. Linear in its size, as all walks of a tape are together. */
mp_status mp_tape_finish(mp_tape *tape);

/*
 * Sets *end behind the container whose head is at offset, which must be inside the message and not in a payload; walks
 * on where it has to. *near is an entry to try first: 0, or what the last call for an object before this one left.
 */
mp_status mp_tape_over(mp_tape *tape, size_t offset, uint32_t *near, size_t *end);

/* Whether the whole message is indexed. */
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

/* The place of the object that the walk is at in an open container: how many of its objects lie before that one. */
uint32_t mp_tape_place(const mp_tape *tape, uint32_t entry);

#endif
