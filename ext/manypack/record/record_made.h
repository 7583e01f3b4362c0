/* The object of a Record whose values are loaded. */
#ifndef MANYPACK_RECORD_MADE_H
#define MANYPACK_RECORD_MADE_H

#include "record/record_walk.h"

/* Makes the object of a Record from its values. Leaves the Record open. nil if errors in it were kept. */
VALUE mp_record_made(mp_loader *l, mp_record_walk *walk);

/* Makes the LazyRecord, with offsets as values. Leaves the Record open. nil if errors in it were kept. */
VALUE mp_record_made_lazy(mp_loader *l, const mp_record_walk *walk);

/* Gives missing fields their defaults. Reports fields without a default before any user code runs. */
void mp_record_defaults(mp_loader *l, const mp_record_walk *walk);

#endif
