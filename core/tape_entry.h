/* What a tape consists of. Unused entries also hold the keys of a map while they are compared. */
#ifndef MP_TAPE_ENTRY_H
#define MP_TAPE_ENTRY_H

#include "platform.h"

/* Entries lie in the order of the message. An open container is one that the walk is in. */
typedef struct {
    uint32_t offset; /* of the head */
    uint32_t end;    /* offset after it; of an open one the entry of the enclosing container: never above offset */
    uint32_t next;   /* the first entry after it; of an open one how many objects are still to come */
} mp_tape_entry;

#endif
