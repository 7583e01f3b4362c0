/*
 * An index of the containers in a message, written by one walk, which checks the bytes. With it, skipping a container
 * takes one look at its entry.
 *
 *   mp_tape tape;
 *   size_t end;
 *
 *   mp_tape_init(&tape, bytes, size, 128, MP_TAPE_KEEP);
 *   tape.grow = more_entries;
 *   status = mp_tape_finish(&tape);             // MP_OK: the message is complete and well formed
 *   if (status == MP_OK && tape.at < size) ...  // other bytes follow the message
 *   status = mp_tape_over(&tape, offset, &near, &end); // end of the container at offset
 *
 * With tape.checks, set before the walk, it refuses messages that an unpacker with these options refuses. unique_keys
 * costs at most n log n comparisons for a map of n keys and, while the map is being closed, an entry for each key.
 *
 * If a tape keeps no closed containers and ends at an offset, its entries are the containers around that offset, from
 * entries[0], the outermost, to entries[depth - 1]: trail.h finds the way to a place from them.
 */
#ifndef MP_TAPE_H
#define MP_TAPE_H

#include "check.h"
#include "platform.h"
#include "status.h"
#include "tape_entry.h"

/* Smaller containers have no entry: skipping one takes no longer than finding its entry would. */
#define MP_TAPE_KEEP 64
#define MP_TAPE_KEEP_NONE UINT32_MAX

typedef struct mp_tape mp_tape;

struct mp_tape {
    const uint8_t *bytes; /* may be changed between calls if the bytes have moved */
    mp_tape_entry *entries;
    uint32_t size;
    uint32_t count, capacity; /* entries in use, and entries with memory */
    uint32_t innermost;       /* the entry of the innermost open container, unless depth is 0 */
    uint32_t depth;           /* open containers */
    uint32_t max_depth;
    uint32_t keep;            /* smaller containers lose their entry when they are closed */
    uint32_t at;              /* how far the walk has come; after an error, the head to blame */
    mp_status status;         /* after an error the walk does not continue */
    const mp_check *checks;   /* NULL: only the structure and max_depth */
    uint64_t objects;         /* so far, declared objects included; only with checks */
    /*
     * Makes room for at least one more entry: entries may move, capacity changes. If it cannot, it returns false or
     * leaves by longjmp. The tape ends there with MP_E_NO_ROOM.
     */
    bool (*grow)(mp_tape *tape);
};

/*
 * Starts a tape without entries. size counts the message and the bytes that follow it. keep is at most MP_TAPE_KEEP; or
 * MP_TAPE_KEEP_NONE, but then only mp_tape_finish without checks may be used. MP_E_TAPE_RANGE if the bytes are too many
 * for the offsets of entries; then the tape cannot be used.
 */
mp_status mp_tape_init(mp_tape *tape, const uint8_t *bytes, size_t size, uint32_t max_depth, uint32_t keep);

/*
 * Walks to the end of the message. To go on after MP_E_TRUNCATED, set status to MP_OK and size to a larger one, and
 * call again: all walks together take linear time.
 */
mp_status mp_tape_finish(mp_tape *tape);

/*
 * Sets *end to the end of the container whose head is at offset, which must be inside the message. If the walk has
 * failed before that end, returns its status. *near is the entry to try first: 0, or the *near that the last call, for
 * an earlier object, set.
 */
mp_status mp_tape_over(const mp_tape *tape, size_t offset, uint32_t *near, size_t *end);

/* The entry of the container whose head is at an offset; tape->count if it is too small for one, or was not reached. */
uint32_t mp_tape_entry_of(const mp_tape *tape, size_t offset);

/* True if the walk has not come to the end of the container of an entry. */
MP_INLINE bool
mp_tape_open_p(const mp_tape *tape, uint32_t entry)
{
    return tape->entries[entry].end <= tape->entries[entry].offset;
}

/* True if the whole message is indexed. */
MP_INLINE bool
mp_tape_complete_p(const mp_tape *tape)
{
    return tape->at && !tape->depth && tape->status == MP_OK;
}

/* After an error: the offset of the head to blame. */
MP_INLINE size_t
mp_tape_blame(const mp_tape *tape)
{
    return tape->status == MP_E_DUPLICATE_KEY ? tape->entries[tape->innermost].offset : tape->at;
}

/* How many objects of an open container come before the current object of the walk. */
uint32_t mp_tape_place(const mp_tape *tape, uint32_t entry);

#endif
