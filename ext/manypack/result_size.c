/* The sizes of a Ractor's last two long results, where its storage would have a pointer: they need no memory. */
#include "result_size.h"

/* Each in 15 bits, by the KB: both fit a pointer of any size. */
enum { UNIT = 1024, MOST = 0x7fff };

static rb_ractor_local_key_t sizes_key;

static const struct rb_ractor_local_storage_type sizes_type = {NULL, NULL};

size_t
mp_result_size_expected(void)
{
    uintptr_t sizes = (uintptr_t)rb_ractor_local_storage_ptr(sizes_key);
    size_t last = sizes & MOST, before = sizes >> 15 & MOST;

    return (last < before ? last : before) * UNIT;
}

void
mp_result_size_note(size_t size)
{
    uintptr_t sizes = (uintptr_t)rb_ractor_local_storage_ptr(sizes_key);
    uintptr_t last = size / UNIT < MOST ? size / UNIT + 1 : MOST;

    if ((sizes & MOST) == last && (sizes >> 15 & MOST) == last) return;
    rb_ractor_local_storage_ptr_set(sizes_key, (void *)((sizes & MOST) << 15 | last));
}

void
Init_manypack_result_size(void)
{
    sizes_key = rb_ractor_local_storage_ptr_newkey(&sizes_type);
}
