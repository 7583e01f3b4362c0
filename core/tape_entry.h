/* An entry of a tape. Unused entries also hold the keys of a map while these are compared. */
#ifndef MP_TAPE_ENTRY_H
#define MP_TAPE_ENTRY_H

#include "platform.h"

/* Entries are in the order of the message. An open container is one that the walk is inside of. */
typedef struct {
    uint32_t offset; /* of the head */
    uint32_t end;    /* offset after it; if open, the entry of the container around it, which is never above offset */
    uint32_t next;   /* the first entry after it; if open, how many objects are still to come */
} mp_tape_entry;

#endif
