/* What Manypack knows of the current Ractor. */
#ifndef MANYPACK_RACTOR_H
#define MANYPACK_RACTOR_H

#include "manypack.h"

bool mp_main_ractor_p(void);

#endif
