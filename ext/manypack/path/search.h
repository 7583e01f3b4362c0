/*
 * Searches a message for a Path.
 *
 *   mp_search search = mp_search_new(&peek, root, start, &program, &shared);
 *   search.sink = MP_SINK_COUNT;
 *   mp_search_run(&search);
 */
#ifndef MANYPACK_SEARCH_H
#define MANYPACK_SEARCH_H

#include "path/search_state.h"

/*
 * Returns a search by a program, starting at an offset; the caller sets its sink. root is the root of the Views that
 * the search makes, or 0 if the sink makes none. All arguments must outlive the search.
 */
mp_search mp_search_new(mp_peek *peek, VALUE root, size_t start, mp_program *program, mp_search_shared *shared);

/*
 * Searches the object at the start. MalformedFormatError if the search reaches the end of the message, other bytes
 * follow, and the peek allows none.
 */
void mp_search_run(mp_search *s);

/*
 * Searches the object at an offset for the segments from `step` on. up is the way to the object, or NULL if the search
 * needs none. If wanted, returns the offset after the object, unless the search was stopped: it has walked over a part
 * of the object already, so this costs less than a new walk.
 */
size_t mp_search_from(mp_search *s, size_t at, long step, bool wanted, const mp_way *up);

#endif
