/*
 * The messages that Views of a Ractor looked into last, each with its Index once it has one: a new View of the same
 * bytes finds the Index that an older one has made.
 *
 *   recent = mp_recents_find(&recents, message, 128);
 *   recent->views++;                                  // a View looks for the first time
 *   index = recent->index;                            // 0: nobody has made it
 *   index = mp_view_index_new(message, 128);          // allocates, so recent is not valid any more
 *   mp_recents_find(&recents, message, 128)->index = index;
 *
 * A message is known by where its bytes are, because String objects that share them are many. Nothing of it is kept
 * alive, unless several Views have used the Index since the last collection: then message and Index live until the
 * next one, at least. So no collection separates Views that are made in a loop from the Index, and what nobody looks
 * into any more is gone after two.
 */
#ifndef MANYPACK_RECENT_MESSAGES_H
#define MANYPACK_RECENT_MESSAGES_H

#include "base/support.h"

typedef struct {
    const uint8_t *bytes; /* NULL in an unused entry */
    size_t size;
    VALUE message;        /* immutable; its bytes stay where they are while the entry is used */
    VALUE index;
    uint32_t max_depth;   /* an Index holds for one */
    uint32_t views;       /* that looked for the first time since the last collection; those before count as 1 */
    size_t kept;          /* the last collection that kept it */
} mp_recent;

typedef struct mp_recents mp_recents; /* NULL until the first message */

/* What is known about a message, or NULL. Valid until a collection runs. Allocates nothing. */
mp_recent *mp_recents_known(mp_recents *recents, VALUE message, uint32_t max_depth);

/* What is known about a message; a new entry if that is nothing. Valid until a collection runs. NoMemoryError. */
mp_recent *mp_recents_find(mp_recents **recents, VALUE message, uint32_t max_depth);

void mp_recents_mark(mp_recents *recents);
size_t mp_recents_memsize(const mp_recents *recents);

#endif
