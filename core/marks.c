/* Marks in arrays. A cursor that passes a place where a mark belongs has all that the mark holds. */
#include "marks.h"

mp_status
mp_marks_go(mp_marks *marks, mp_cursor *cursor, uint32_t n)
{
    uint32_t before = n / MP_MARK_DISTANCE, mark = before < marks->count ? before : marks->count;

    if (mark) {
        cursor->at = marks->at[mark - 1].at;
        cursor->near = marks->at[mark - 1].near;
        cursor->left -= (uint64_t)mark * MP_MARK_DISTANCE;
    }
    while (mark < before) {
        mp_status status = mp_cursor_pass(cursor, MP_MARK_DISTANCE);

        if (MP_UNLIKELY(status != MP_OK)) return status;
        marks->at[mark++] = (mp_mark){.at = (uint32_t)cursor->at, .near = cursor->near};
        marks->count = mark;
    }
    return mp_cursor_pass(cursor, n % MP_MARK_DISTANCE);
}
