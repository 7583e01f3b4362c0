/* Marks in arrays. A cursor that passes a place where a mark belongs has all that the mark holds. */
#include "marks.h"

static void
mark_here(mp_marks *marks, uint32_t mark, size_t at, uint32_t near)
{
    marks->at[mark] = (mp_mark){.at = (uint32_t)at, .near = near & (((uint32_t)1 << MP_NEAR_BITS) - 1)};
    marks->count = mark + 1;
}

/* Moves *p over n elements if the heads of all tell that they have one size, and bytes are ahead of each. */
static bool
even_over(const uint8_t **p, const uint8_t *end, uint32_t n)
{
    uint32_t size = mp_ahead_p(*p, end) ? mp_row_size(MP_WIRE[**p]) : 0, i;
    const uint8_t *element = *p;

    if (!size) return false;
    for (i = 0; i < n; i++, element += size) {
        if (!mp_ahead_p(element, end) || mp_row_size(MP_WIRE[*element]) != size) return false;
    }
    *p = element;
    return true;
}

/* Fast path: makes marks up to the wanted one as long as there are only leaves. Returns the last mark it has made. */
static uint32_t
mark_leaves(mp_marks *marks, mp_cursor *cursor, uint32_t mark, uint32_t wanted)
{
    const uint8_t *bytes = cursor->look->bytes, *end = bytes + cursor->look->size, *p = bytes + cursor->at;

    while (mark < wanted) {
        marks->at[mark].even = even_over(&p, end, 1u << marks->shift);
        if (!marks->at[mark].even && mp_leaves_over(&p, end, UINT64_C(1) << marks->shift)) break;
        cursor->at = (size_t)(p - bytes);
        cursor->left -= UINT64_C(1) << marks->shift;
        mark_here(marks, ++mark, cursor->at, cursor->near);
    }
    return mark;
}

mp_status
mp_marks_go(mp_marks *marks, mp_cursor *cursor, uint32_t n)
{
    uint32_t wanted = n >> marks->shift, mark;

    if (!marks->count) mark_here(marks, 0, cursor->at, cursor->near);
    mark = wanted < marks->count ? wanted : marks->count - 1;
    cursor->at = marks->at[mark].at;
    cursor->near = marks->at[mark].near;
    cursor->left -= (uint64_t)mark << marks->shift;
    while ((mark = mark_leaves(marks, cursor, mark, wanted)) < wanted) {
        mp_status status = mp_cursor_pass(cursor, UINT64_C(1) << marks->shift);

        if (MP_UNLIKELY(status != MP_OK)) return status;
        mark_here(marks, ++mark, cursor->at, cursor->near);
    }
    return mp_cursor_pass(cursor, n & ((1u << marks->shift) - 1));
}
