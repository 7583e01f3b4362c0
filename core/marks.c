/* Marks in arrays. A cursor that passes a place where a mark belongs has all that the mark holds. */
#include "marks.h"

static void
mark_here(mp_marks *marks, uint32_t mark, size_t at, uint32_t near)
{
    marks->at[mark] = (mp_mark){.at = (uint32_t)at, .near = near};
    marks->count = mark + 1;
}

/* Fast path: makes marks up to the wanted one as long as there are only leaves. Returns the last mark it has made. */
static uint32_t
mark_leaves(mp_marks *marks, mp_cursor *cursor, uint32_t mark, uint32_t wanted)
{
    const uint8_t *bytes = cursor->look->bytes, *end = bytes + cursor->look->size, *p = bytes + cursor->at;

    while (mark < wanted && !mp_leaves_over(&p, end, UINT64_C(1) << marks->shift)) {
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
