/* Chooses between Records by the members that they require. */
#include "record/choices.h"

/* The number of fields up to the last required one. */
static uint32_t
fields_of(VALUE required)
{
    return RARRAY_LEN(required) ? NUM2UINT(rb_ary_entry(required, -1)) + 1 : 0;
}

void
mp_choices_init(mp_choices *choices, VALUE list, const struct mp_shape **parts)
{
    uint32_t i, n = (uint32_t)RARRAY_LEN(list), size = n;
    long j;

    if (!n) return;
    for (i = 0; i < n; i++) size += (fields_of(rb_ary_entry(rb_ary_entry(list, i), 1)) + 63) / 64;
    choices->all = ZALLOC_N(mp_choice, n);
    choices->start = ZALLOC_N(uint64_t, size);
    choices->size = n;
    for (i = 0; i < n; i++) {
        VALUE one = rb_ary_entry(list, i), required = rb_ary_entry(one, 1);
        mp_choice *choice = &choices->all[i];

        choice->shape = parts[NUM2UINT(rb_ary_entry(one, 0))];
        choice->misread = rb_ary_entry(one, 2);
        choice->first = choices->size;
        choices->count++;
        choices->start[i] = (uint64_t)RARRAY_LEN(required);
        for (j = 0; j < RARRAY_LEN(required); j++) {
            uint32_t field = NUM2UINT(rb_ary_entry(required, j));

            choices->start[choice->first + field / 64] |= UINT64_C(1) << (field % 64);
        }
        choice->fields = fields_of(required);
        choices->size += (choice->fields + 63) / 64;
    }
}

void
mp_choices_free(mp_choices *choices)
{
    xfree(choices->all);
    xfree(choices->start);
}

size_t
mp_choices_memsize(const mp_choices *choices)
{
    return choices->count * sizeof(mp_choice) + choices->size * sizeof(uint64_t);
}
