/* Paths from the root of an object or a message to a place in it, for errors: Strings such as "$.users[3].avatar". */
#ifndef MANYPACK_ERROR_PATH_H
#define MANYPACK_ERROR_PATH_H

#include "base/support.h"
#include "core/trail.h"

/* One open container on the path to the current value. Lives on the C stack. */
typedef struct mp_place {
    const struct mp_place *up;
    VALUE key;  /* in a map; Qundef in an array */
    long index; /* in an array */
} mp_place;

/* The path to the value that the encoder is at; "$", the root, for NULL. */
VALUE mp_error_path(const mp_place *innermost);

/* The same with up to MP_ROUTE_HEAD + MP_ROUTE_TAIL steps. */
VALUE mp_error_path_longer(const mp_place *innermost);

/* Appends a path that starts at a place to the path of that place. */
VALUE mp_error_path_join(VALUE outer, VALUE path);

/* The path for an error message, without its middle if it is long. */
VALUE mp_error_path_shown(VALUE path);

/* How many steps of a longer route are kept, from its start and from its end. */
enum { MP_ROUTE_HEAD = 64, MP_ROUTE_TAIL = 64 };

/* The route to a place of a message, with offsets in that message. */
typedef struct {
    uint32_t count; /* steps that are kept */
    bool cut;       /* the middle is missing, after MP_ROUTE_HEAD steps */
    mp_trail_step steps[MP_ROUTE_HEAD + MP_ROUTE_TAIL];
} mp_route;

/* Finds the route for mp_error_path_of. False if there is none. Runs no user code; raises only NoMemoryError. */
typedef bool (*mp_route_finder)(VALUE source, size_t start, size_t offset, mp_route *route);

/* Sets the function that finds routes. It remembers the last ones in the Ractor's state (caches/trails.h). */
void mp_error_path_set_finder(mp_route_finder finder);

/*
 * The path to the object whose head or payload has the byte at `offset` of a String. The message starts at `start` of
 * the String, which nobody may change meanwhile. An object in a map key has the path of the map. Manypack::Path can
 * read the path unless it has a step that no Path can express, too many steps, or a key that is too long.
 *
 * Returns a frozen String, or nil if the message ends before the offset or is malformed before it. Takes time in
 * proportion to the distance from `start` or, if the Ractor remembers it (caches/trails.h), from the last path in the
 * same message.
 */
VALUE mp_error_path_of(VALUE source, size_t start, size_t offset);

#endif
