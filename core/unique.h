/* Whether the keys of a map differ, in n log n comparisons whatever the bytes are: there is no hash to flood. */
#ifndef MP_UNIQUE_H
#define MP_UNIQUE_H

#include "tape.h"

/*
 * MP_E_DUPLICATE_KEY where the innermost container of a tape, which has no more objects to come, is a map that has a
 * key twice. Takes an unused entry for each key; MP_E_NO_ROOM without. The tape keeps containers of MP_TAPE_KEEP bytes.
 */
mp_status mp_unique_keys(mp_tape *tape);

#endif
