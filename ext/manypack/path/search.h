/* Searches a message for what a Path finds. */
#ifndef MANYPACK_SEARCH_H
#define MANYPACK_SEARCH_H

#include "path/search_state.h"

/*
 * Returns a search for the steps of a program that is to start at an offset; set its sink. root is the View to which
 * Views that are found belong, or 0 if the sink makes none. Everything must outlive the search.
 */
mp_search mp_search_new(mp_peek *peek, VALUE root, size_t start, mp_program *program, mp_search_shared *shared);

/* Searches the object at an offset, by the query of the search. */
void mp_search_run(mp_search *s, size_t at);

/* The same, and returns the offset after the object, with which the walk of the search ends; 0 if it was stopped. */
size_t mp_search_over(mp_search *s, size_t at);

/*
 * The same for the object at the start, which is to be all of the message: MalformedFormatError if the search comes to
 * its end, and other bytes follow.
 */
void mp_search_message(mp_search *s);

/* The same for the segments from `step` on, of a search that needs no keys and indices that lead to a value. */
void mp_search_step(mp_search *s, size_t at, long step);

#endif
