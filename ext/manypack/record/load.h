/* Loading turns bytes into objects of given types. */
#ifndef MANYPACK_LOAD_H
#define MANYPACK_LOAD_H

#include "codec/codec.h"
#include "record/loader.h"
#include "record/record_walk.h"

/* A part of a message, which is a frozen binary String. Errors give offsets in the whole message. */
typedef struct {
    VALUE message;
    size_t start, end;
    VALUE root; /* the View of the message whose Index the object's Views share; 0 if bytes are loaded */
    bool eager; /* as in mp_loader */
    VALUE refusal; /* as in mp_loader */
    mp_json_places *json; /* as in mp_loader */
    mp_outer *outer; /* the decoder around the body of an ext: depth and objects go on counting from there; else NULL */
} mp_load_part;

/*
 * Loads the single object in a part of a message as shapes[0] of the Type. With collect, finds all errors and raises
 * them together. Raises RecordError for a wrong type, the errors of error.h, and what the classes of Records raise.
 */
VALUE mp_load_whole(mp_load_part part, VALUE type, const mp_shapes *shapes, VALUE codec, bool collect);

/* Loads the next object and checks that it is of the shape's type. */
VALUE mp_load_value(mp_loader *l, const mp_shape *shape);

/* ArgumentError for an UNNAMED, also among the types of an ANY_OF. */
void mp_load_refuse_unnamed(const mp_shape *shape);

/* Reports the rule that the object at `at` broke. False if it broke none, or if another type might have taken it. */
bool mp_load_report_broken(mp_loader *l, const mp_shape *shape, mp_kind kind, const uint8_t *at);

/*
 * The part that a tag chooses. An unknown tag, or Qundef for a missing one, chooses else, the last part. NULL if there
 * is no else.
 */
const mp_shape *mp_load_tagged_part(const mp_shape *shape, VALUE value);

/* Moves from the head of a map to the value of the tag key of a TAGGED. False if the map has no such key. */
bool mp_load_find_tag(mp_loader *l, const mp_shape *shape);

#endif
