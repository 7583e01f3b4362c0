/* The two halves of the floor: making a graph of objects, and walking over one. */
#ifndef FLOOR_H
#define FLOOR_H

#include <ruby.h>

void floor_init_plan(VALUE module);
void floor_init_walk(VALUE module);

#endif
