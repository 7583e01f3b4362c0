/* The slow paths of the loader: how it starts and ends, and how it skips containers. */
#include "record/loader.h"

#include "core/find.h"

static void
make_places(mp_loader *l)
{
    l->left = l->places;
    if (l->d.max_depth >= MP_LOADER_PLACES) l->left = ALLOCV_N(uint64_t, l->memory, l->d.max_depth + 1);
}

/* Initializes all fields except those about the bytes. */
static void
start_loader(mp_loader *l, mp_value_words *words, size_t offset, VALUE type, VALUE codec)
{
    memset(l, 0, offsetof(mp_loader, left));
    mp_decoder_init(&l->d, mp_codec_get(codec), words);
    l->field = MP_FIELD_NONE;
    l->type = type;
    l->from = offset;
    l->given = Qundef;
    make_places(l);
}

void
mp_loader_init(mp_loader *l, mp_value_words *words, VALUE message, size_t offset, VALUE type, VALUE codec)
{
    start_loader(l, words, offset, type, codec);
    mp_decoder_source(&l->d, message, (const uint8_t *)RSTRING_PTR(message), (size_t)RSTRING_LEN(message));
    l->d.at += offset;
}

void
mp_loader_init_given(mp_loader *l, mp_value_words *words, VALUE type, VALUE codec)
{
    static const uint8_t empty[] = {0x90}; /* a container that mp_loader_open does not check for depth */

    start_loader(l, words, 0, type, codec);
    mp_decoder_source(&l->d, 0, empty, sizeof(empty));
    l->given = Qnil;
}

void
mp_loader_enclose(mp_loader *l, mp_outer outer)
{
    l->depth = outer.depth;
    l->d.max_depth = outer.max_depth;
    l->d.outer_keys = outer.keys;
    l->d.others = outer.objects;
    make_places(l);
}

void
mp_loader_end(mp_loader *l)
{
    mp_decoder_cleanup(&l->d);
    if (MP_UNLIKELY(l->memory != 0)) ALLOCV_END(l->memory);
    RB_GC_GUARD(l->d.source);
    RB_GC_GUARD(l->type);
    RB_GC_GUARD(l->passed);
    RB_GC_GUARD(l->passed_part);
    RB_GC_GUARD(l->view);
    RB_GC_GUARD(l->origin);
}

void
mp_loader_skip_container(mp_loader *l)
{
    mp_look look;
    mp_cursor cursor = {.look = &look, .at = (size_t)(l->d.at - l->d.start), .left = 1};
    mp_status status;

    /* one more, for the level that the walk begins in */
    mp_look_init(&look, l->d.start, (size_t)(l->d.end - l->d.start), l->left, l->d.max_depth - l->depth + 1);
    status = mp_cursor_next(&cursor);
    if (MP_UNLIKELY(status != MP_OK)) mp_decoder_raise(&l->d, status, l->d.start + look.blame);
    l->d.at = l->d.start + cursor.at;
}
