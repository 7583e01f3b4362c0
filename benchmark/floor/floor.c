/* What any serializer must at least do in Ruby, by the public C API and without a format: Floor::Plan makes a graph of
 * objects that it knows beforehand, Floor::Walk goes over one and copies its strings. */
#include "floor.h"

void Init_floor(void) {
    rb_ext_ractor_safe(true); /* each Ractor has a Plan of its own */

    VALUE module = rb_define_module("Floor");

    floor_init_plan(module);
    floor_init_walk(module);
}
