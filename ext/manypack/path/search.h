/*
 * Searches a message for what a Path finds.
 *
 *   mp_search search = mp_search_new(&peek, root, start, &program, &shared);
 *   search.sink = MP_SINK_COUNT;
 *   mp_search_run(&search);
 */
#ifndef MANYPACK_SEARCH_H
#define MANYPACK_SEARCH_H

#include "path/search_state.h"

/*
 * Returns a search for the steps of a program that is to start at an offset; set its sink. root is the View to which
 * Views that are found belong, or 0 if the sink makes none. Everything must outlive the search.
 */
mp_search mp_search_new(mp_peek *peek, VALUE root, size_t start, mp_program *program, mp_search_shared *shared);

/*
 * Searches the object at the start. If the peek is to find nothing after the message, MalformedFormatError if the
 * search comes to its end, and other bytes follow.
 */
void mp_search_run(mp_search *s);

/*
 * Searches the object at an offset for the segments from `step` on. up is the way to it, or NULL if the search needs
 * none. If wanted, returns the offset after the object, unless it was stopped: the search has already walked over a
 * part of it, so this costs less than walking over it again.
 */
size_t mp_search_from(mp_search *s, size_t at, long step, bool wanted, const mp_way *up);

#endif
