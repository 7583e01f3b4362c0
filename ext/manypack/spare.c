/* Spare objects: where a Ractor keeps them. */
#include "spare.h"

static rb_ractor_local_key_t spares_key;

static void
spares_mark(void *ptr)
{
    const mp_spares *spares = ptr;

    if (spares->packer) rb_gc_mark(spares->packer);
    if (spares->unpacker) rb_gc_mark(spares->unpacker);
    if (spares->body) rb_gc_mark(spares->body);
}

static const struct rb_ractor_local_storage_type spares_type = {spares_mark, ruby_xfree};

mp_spares *
mp_spares_get(void)
{
    mp_spares *spares = rb_ractor_local_storage_ptr(spares_key);

    if (MP_UNLIKELY(!spares)) {
        spares = ZALLOC(mp_spares);
        rb_ractor_local_storage_ptr_set(spares_key, spares);
    }
    return spares;
}

void
Init_manypack_spare(void)
{
    spares_key = rb_ractor_local_storage_ptr_newkey(&spares_type);
}
