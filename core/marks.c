/* Marks in arrays. A cursor that passes a place where a mark belongs has all that the mark holds. */
#include "marks.h"

mp_status
mp_marks_go(mp_marks *marks, mp_cursor *cursor, uint32_t n)
{
    uint32_t wanted = n >> marks->shift, mark;

    if (!marks->count) marks->at[marks->count++] = (mp_mark){.at = (uint32_t)cursor->at, .near = cursor->near};
    mark = wanted < marks->count ? wanted : marks->count - 1;
    cursor->at = marks->at[mark].at;
    cursor->near = marks->at[mark].near;
    cursor->left -= (uint64_t)mark << marks->shift;
    while (mark < wanted) {
        mp_status status = mp_cursor_pass(cursor, UINT64_C(1) << marks->shift);

        if (MP_UNLIKELY(status != MP_OK)) return status;
        marks->at[++mark] = (mp_mark){.at = (uint32_t)cursor->at, .near = cursor->near};
        marks->count = mark + 1;
    }
    return mp_cursor_pass(cursor, n & ((1u << marks->shift) - 1));
}
