/* An entry of a tape. Unused entries also hold the keys of a map while these are compared. */
#ifndef MP_TAPE_ENTRY_H
#define MP_TAPE_ENTRY_H

#include "platform.h"

/* Entries are in the order of the message. A container is open while the walk is inside it. */
typedef struct {
    uint32_t offset; /* of the head */
    uint32_t end;    /* offset after it; if open, the index, at most offset, of the entry of the container around it */
    uint32_t next;   /* index of the first entry after it; if open, how many objects are still to come */
} mp_tape_entry;

#endif
