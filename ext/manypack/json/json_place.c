/* Walks through a text and its bytes together: each string, number, word and opening bracket has one head. */
#include "json/json_place.h"

#include "core/wire.h"

/* The next value or key of a valid text. */
static const uint8_t *
token(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p <= ' ' || *p == ',' || *p == ':' || *p == ']' || *p == '}')) p++;
    return p;
}

/* The place after a value without elements, a key or an opening bracket. */
static const uint8_t *
after_token(const uint8_t *p, const uint8_t *end)
{
    if (*p == '[' || *p == '{') return p + 1;
    if (*p == '"') {
        for (p++; p < end && *p != '"'; p++) p += *p == '\\';
        return p < end ? p + 1 : end;
    }
    while (p < end && *p > ' ' && *p != ',' && *p != ']' && *p != '}') p++;
    return p;
}

/* Moves from token to token in both, up to an offset in the bytes. Returns false if only one of them has ended. */
static bool
walk_to(mp_json_places *places, size_t offset)
{
    const uint8_t *text = (const uint8_t *)RSTRING_PTR(places->text);
    const uint8_t *packed = (const uint8_t *)RSTRING_PTR(places->packed);
    const uint8_t *text_end = text + RSTRING_LEN(places->text), *end = packed + RSTRING_LEN(places->packed);
    const uint8_t *p = token(text + places->at, text_end), *head_at = packed + places->packed_at;
    mp_head head;

    while (p < text_end && head_at < packed + offset && mp_head_read(head_at, end, &head) == MP_OK) {
        bool has_bytes = head.kind == MP_STR || head.kind == MP_BIN || head.kind == MP_EXT;

        head_at = head.payload + (has_bytes ? head.n : 0);
        p = token(after_token(p, text_end), text_end);
    }
    mp_json_pass(&places->found, text + places->at, p);
    places->at = (size_t)(p - text);
    places->packed_at = (size_t)(head_at - packed);
    return (p == text_end) == (head_at == end);
}

static void
restart_places(mp_json_places *places)
{
    places->found = places->origin;
    places->at = places->packed_at = 0;
}

bool
mp_json_place(mp_json_places *places, size_t offset, mp_json_origin *place)
{
    if (!places->searched) {
        restart_places(places);
        places->unlike = !walk_to(places, (size_t)RSTRING_LEN(places->packed));
        places->searched = true;
    }
    if (places->unlike) return false;
    if (offset < places->packed_at) restart_places(places);
    walk_to(places, offset);
    *place = places->found;
    RB_GC_GUARD(places->text);
    RB_GC_GUARD(places->packed);
    return true;
}
