/* What Manypack knows of the current Ractor: whether it is the main one. */
#include "ractor.h"

/* Not NULL in the main Ractor only. */
static rb_ractor_local_key_t main_key;
static const struct rb_ractor_local_storage_type main_key_type = {NULL, NULL};

bool
mp_main_ractor_p(void)
{
    return rb_ractor_local_storage_ptr(main_key) != NULL;
}

void
Init_manypack_ractor(void)
{
    main_key = rb_ractor_local_storage_ptr_newkey(&main_key_type);
    rb_ractor_local_storage_ptr_set(main_key, &main_key);
}
