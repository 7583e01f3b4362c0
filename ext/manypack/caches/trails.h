/*
 * Remembers the last walks to offsets in messages, for the paths of errors. The route to a later offset of the same
 * message continues from there, so that an error in each element takes linear time altogether.
 */
#ifndef MANYPACK_TRAILS_H
#define MANYPACK_TRAILS_H

#include "base/error_path.h"

typedef struct mp_trails mp_trails; /* NULL until the first walk */

void mp_trails_free(mp_trails *trails);
size_t mp_trails_memsize(const mp_trails *trails);

/* Finds routes, as error_path.h says, and remembers the walks in *trails. */
bool mp_trails_find(mp_trails **trails, VALUE source, size_t start, size_t offset, mp_route *route);

#endif
