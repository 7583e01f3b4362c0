/* The state of a search for what a Path finds: its budget, and how it finds a key. */
#include "path/search_state.h"

#include "base/error.h"

void
mp_search_spent(const mp_search *s, size_t at)
{
    mp_raise_max_looks(s->shared->max_looks, "conditions that look at more objects", at,
                       mp_message_whole(s->peek->message));
}

void
mp_search_slow(const mp_search *s, size_t at)
{
    mp_raise_max_looks(s->shared->max_looks, "a text that takes longer to match", at,
                       mp_message_whole(s->peek->message));
}

/*
 * A key that is compared as an object. A binary key is looked up as a bin, then as a str with invalid UTF-8: error
 * paths show both alike.
 */
static bool
find_object(mp_search *s, mp_cursor *cursor, const mp_selector *selector)
{
    VALUE key = mp_program_object(s->program, selector->object);
    mp_cursor start = *cursor;

    if (mp_peek_find(s->peek, cursor, key)) return true;
    if (selector->key.kind != MP_BIN) return false;
    *cursor = start;
    return mp_peek_find(s->peek, cursor, rb_enc_associate(rb_str_dup(key), mp_utf8));
}

bool
mp_search_find(mp_search *s, mp_cursor *cursor, const mp_selector *selector)
{
    bool outermost = cursor->at == s->outermost;
    size_t value;

    s->passed = 0;
    if (cursor->kind != MP_MAP) {
        if (selector->kind != MP_SELECT_INDEX) return false;
        return mp_peek_find(s->peek, cursor, mp_program_object(s->program, selector->object));
    }
    if (!s->bytes_only || selector->key.kind == MP_BIN) return find_object(s, cursor, selector);
    mp_peek_check(s->peek, mp_find(cursor, &selector->key, mp_search_which(s), &value));
    if (outermost && !cursor->left) mp_peek_ended(s->peek, cursor->at);
    if (!value) return false;
    mp_search_inside(s, value);
    if (!cursor->left) s->passed = cursor->at;
    cursor->at = value;
    return true;
}
