/* The index of the containers in a message, which all Views of it share: a tape (tape.h) that the collector owns. */
#include "view_index.h"

#include "decode.h"
#include "error.h"

#define FIRST_ENTRIES 64

/* So many arrays can be indexed in turn, as nested loops do, before a look has to start at the first element. */
#define PLACES 8

typedef struct {
    mp_tape tape;
    mp_view_place places[PLACES]; /* the last one used comes first */
} view_index;

static void
index_free(void *ptr)
{
    xfree(((view_index *)ptr)->tape.entries);
    mp_typed_free(ptr);
}

static size_t
index_memsize(const void *ptr)
{
    return mp_typed_memsize(sizeof(view_index)) +
           ((const view_index *)ptr)->tape.capacity * sizeof(mp_tape_entry);
}

/* It refers to no object, so there is nothing to mark. */
static const rb_data_type_t index_type = {
    .wrap_struct_name = "Manypack::View::Index",
    .function = {.dfree = index_free, .dsize = index_memsize},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE | MP_TYPED_EMBEDDABLE,
};

static view_index *
index_get(VALUE self)
{
    view_index *index;

    TypedData_Get_Struct(self, view_index, &index_type, index);
    return index;
}

static bool
grow(mp_tape *tape)
{
    uint32_t capacity = tape->capacity ? tape->capacity * 2 : FIRST_ENTRIES;

    REALLOC_N(tape->entries, mp_tape_entry, capacity);
    tape->capacity = capacity;
    return true;
}

/* Of any message below 4 GiB, which has no Index otherwise: 0. */
static VALUE
index_new(VALUE message, uint32_t max_depth)
{
    view_index *index;
    VALUE self = TypedData_Make_Struct(0, view_index, &index_type, index);
    mp_tape *tape = &index->tape;
    const uint8_t *bytes = (const uint8_t *)RSTRING_PTR(message);

    if (mp_tape_init(tape, bytes, (size_t)RSTRING_LEN(message), max_depth, MP_TAPE_KEEP) != MP_OK) return 0;
    tape->grow = grow;
    return self;
}

VALUE
mp_view_index_new(VALUE message, uint32_t max_depth)
{
    return RSTRING_LEN(message) < MP_VIEW_INDEX_MIN ? 0 : index_new(message, max_depth);
}

mp_tape *
mp_view_index_tape(VALUE self, VALUE message)
{
    mp_tape *tape = &index_get(self)->tape;

    if (tape->bytes != (const uint8_t *)RSTRING_PTR(message)) tape->bytes = (const uint8_t *)RSTRING_PTR(message);
    if (tape->status == MP_E_NO_ROOM) tape->status = MP_OK;
    return tape;
}

mp_view_place *
mp_view_index_place(VALUE self, size_t array)
{
    mp_view_place *places = index_get(self)->places, found;
    size_t i;

    if (RB_OBJ_FROZEN(self)) return NULL;
    for (i = 0; i < PLACES - 1 && places[i].array != array; i++) continue;
    found = places[i].array == array ? places[i] : (mp_view_place){.array = (uint32_t)array, .at = (uint32_t)array};
    memmove(places + 1, places, i * sizeof(mp_view_place));
    places[0] = found;
    return places;
}

bool
mp_view_index_whole_p(VALUE self)
{
    return mp_tape_whole_p(&index_get(self)->tape);
}

void
mp_view_index_finish(VALUE self, VALUE message)
{
    mp_tape *tape = mp_view_index_tape(self, message);

    if (mp_tape_finish(tape) != MP_OK) {
        mp_raise_status(tape->status, (mp_blame){.start = tape->bytes, .at = tape->bytes + mp_tape_blame(tape),
                                                 .end = tape->bytes + tape->size});
    }
    RB_GC_GUARD(message);
}

/* --- checking --------------------------------------------------------------------------------------- */

#define WORD_BITS 64
#define TYPE_WORDS (256 / WORD_BITS)

/*
 * What a tape can check of what unpacking does. An ext with a handler is not among the types that it knows, because
 * only calling the handler tells; neither are those that unpacking refuses.
 */
static mp_check
check_of(const mp_codec *codec, uint64_t types[TYPE_WORDS])
{
    const mp_options *options = &codec->options;
    bool handlers = codec->types && codec->types->unpacker_count;
    size_t word;

    for (word = 0; word < TYPE_WORDS; word++) types[word] = options->allow_unknown_ext && !handlers ? UINT64_MAX : 0;
    if (options->timestamp && !handlers) types[TYPE_WORDS - 1] |= UINT64_C(1) << (WORD_BITS - 1); /* that of -1 */
    return (mp_check){
        .limits = options->limits, .utf8 = options->strict_utf8, .utf8_keys = options->symbolize_keys,
        .timestamps = options->timestamp || options->untrusted, .timestamp_range = options->untrusted,
        .unique_keys = options->unique_keys, .ext_types = types,
    };
}

/*
 * Refuses what unpacking refuses, with the same error: a message that a tape accepts would be unpacked, and of any
 * other one unpacking says whether and why not.
 */
VALUE
mp_view_index_checked(VALUE message, const mp_codec *codec)
{
    uint32_t max_depth = mp_unpack_max_depth(&codec->options);
    VALUE self = index_new(message, max_depth);
    uint64_t types[TYPE_WORDS];
    mp_check check = check_of(codec, types);

    if (self) {
        mp_tape *tape = mp_view_index_tape(self, message);
        bool accepted;

        tape->checks = &check;
        accepted = mp_tape_finish(tape) == MP_OK && tape->at == tape->size;
        tape->checks = NULL;
        if (accepted) return self;
    }
    mp_decode_whole(message, codec);
    self = mp_view_index_new(message, max_depth);
    if (self) mp_view_index_finish(self, message);
    return self;
}
