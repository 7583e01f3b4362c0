/*
 * The Index of a message, which all of its Views share. The tape (core/tape.h) does the walking; this file gives it
 * memory, remembers places in arrays, and checks messages.
 */
#include "view/view_index.h"

#include "base/error.h"
#include "core/find.h"
#include "unpack/decode.h"

#define FIRST_ENTRIES 64

/*
 * The number of arrays whose last place is remembered. A program that alternates among more arrays, as in nested loops,
 * starts each look at the first element.
 */
#define PLACES 8

/* A frozen Index has a mark at every 32nd element of an array: its offset. */
#define MARK_DISTANCE 32

typedef struct {
    uint32_t array; /* offset of the first element */
    uint32_t first; /* index of its first mark */
} marked_array;

typedef struct {
    uint32_t at, near; /* as in mp_view_place */
} mark;

MP_STATIC_ASSERT(arrays_and_marks_share_memory, sizeof(marked_array) == sizeof(mark));

typedef struct {
    mp_tape tape;
    union {
        mp_view_place places[PLACES]; /* most recently used first */
        struct {
            marked_array *arrays;     /* in the order of the message; marks are in the same memory */
            mark *marks;
            uint32_t array_count, mark_count;
        } frozen;
    } known;
    bool marked; /* known.frozen is in use */
} view_index;

static void
index_free(void *ptr)
{
    view_index *index = ptr;

    xfree(index->tape.entries);
    if (index->marked) xfree(index->known.frozen.arrays);
    mp_typed_free(ptr);
}

static size_t
index_memsize(const void *ptr)
{
    const view_index *index = ptr;
    size_t marks = index->marked ? index->known.frozen.array_count * sizeof(marked_array) +
                                   index->known.frozen.mark_count * sizeof(mark) : 0;

    return mp_typed_memsize(sizeof(view_index)) + index->tape.capacity * sizeof(mp_tape_entry) + marks;
}

/* Without a mark function, because it refers to no object. */
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

    if (capacity <= tape->capacity) return false; /* twice as many do not fit a uint32_t */
    REALLOC_N(tape->entries, mp_tape_entry, capacity);
    tape->capacity = capacity;
    return true;
}

/* Makes an empty Index. 0 for a message of 4 GiB or more, which can have no Index. */
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

/* --- places ----------------------------------------------------------------------------------------- */

/* The place of the last mark at or before an element of an array; the start of the array if there is none. */
static mp_view_place
marked_place(const view_index *index, uint32_t array, uint32_t n)
{
    const marked_array *arrays = index->known.frozen.arrays;
    uint32_t from = 0, to = index->known.frozen.array_count, marks = n / MARK_DISTANCE;
    mark found;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (arrays[middle].array < array) from = middle + 1;
        else to = middle;
    }
    if (!marks || from == index->known.frozen.array_count || arrays[from].array != array) {
        return (mp_view_place){.array = array, .at = array};
    }
    found = index->known.frozen.marks[arrays[from].first + marks - 1];
    return (mp_view_place){.array = array, .n = marks * MARK_DISTANCE, .at = found.at, .near = found.near};
}

/* The remembered place in an array, which becomes the most recently used; the start of the array if there is none. */
static mp_view_place
last_place(view_index *index, uint32_t array)
{
    mp_view_place *places = index->known.places, found;
    size_t i;

    for (i = 0; i < PLACES - 1 && places[i].array != array; i++) continue;
    found = places[i].array == array ? places[i] : (mp_view_place){.array = array, .at = array};
    memmove(places + 1, places, i * sizeof(mp_view_place));
    places[0] = found;
    return found;
}

mp_view_place
mp_view_index_place(VALUE self, size_t array, uint32_t n)
{
    view_index *index = index_get(self);
    mp_view_place place;

    if (index->marked) return marked_place(index, (uint32_t)array, n);
    place = last_place(index, (uint32_t)array);
    return place.n <= n ? place : (mp_view_place){.array = place.array, .at = place.array};
}

void
mp_view_index_keep_place(VALUE self, mp_view_place place)
{
    view_index *index = index_get(self);

    if (!index->marked) index->known.places[0] = place;
}

/* How many marks the array of an entry needs; 0 for a map. Sets *first to the offset of its first element. */
static uint32_t
marks_of(const mp_tape *tape, uint32_t entry, uint32_t *first)
{
    mp_head head = {.kind = MP_NEVER};

    mp_head_read(tape->bytes + tape->entries[entry].offset, tape->bytes + tape->size, &head);
    *first = (uint32_t)(head.payload - tape->bytes);
    return head.kind == MP_ARRAY && head.n ? (head.n - 1) / MARK_DISTANCE : 0;
}

static void
marks_write(mp_tape *tape, mark *marks, uint32_t entry, uint32_t count)
{
    mp_look look = {.bytes = tape->bytes, .size = tape->size, .tape = tape};
    mp_cursor cursor;

    mp_cursor_open(&cursor, &look, tape->entries[entry].offset);
    cursor.near = entry + 1;
    while (count--) {
        mp_cursor_pass(&cursor, MARK_DISTANCE);
        *marks++ = (mark){.at = (uint32_t)cursor.at, .near = cursor.near};
    }
}

/* Makes the marks of all arrays of a complete Index. Takes linear time. */
static void
marks_make(view_index *index)
{
    mp_tape *tape = &index->tape;
    uint32_t entry, first, array_count = 0, mark_count = 0, count;
    marked_array *arrays, *array;
    mark *marks;

    for (entry = 0; entry < tape->count; entry++) {
        count = marks_of(tape, entry, &first);
        array_count += count > 0;
        mark_count += count;
    }
    arrays = array = ALLOC_N(marked_array, (size_t)array_count + mark_count + 1);
    marks = (mark *)(void *)(arrays + array_count);
    mark_count = 0;
    for (entry = 0; entry < tape->count; entry++) {
        count = marks_of(tape, entry, &first);
        if (!count) continue;
        *array++ = (marked_array){.array = first, .first = mark_count};
        marks_write(tape, marks + mark_count, entry, count);
        mark_count += count;
    }
    index->known.frozen.arrays = arrays;
    index->known.frozen.marks = marks;
    index->known.frozen.array_count = array_count;
    index->known.frozen.mark_count = mark_count;
    index->marked = true;
}

void
mp_view_index_freeze(VALUE self, VALUE message)
{
    if (index_get(self)->marked) return;
    mp_view_index_tape(self, message);
    marks_make(index_get(self));
    RB_OBJ_FREEZE(self);
    mp_obj_set_shareable(self); /* it refers to no object */
    RB_GC_GUARD(message);
}

/* --- all of it -------------------------------------------------------------------------------------- */

bool
mp_view_index_complete_p(VALUE self)
{
    return mp_tape_complete_p(&index_get(self)->tape);
}

void
mp_view_index_finish(VALUE self, VALUE message)
{
    mp_tape *tape = mp_view_index_tape(self, message);

    if (mp_tape_finish(tape) != MP_OK) {
        mp_raise_status(tape->status, (mp_blame){.start = tape->bytes, .at = tape->bytes + mp_tape_blame(tape),
                                                 .end = tape->bytes + tape->size,
                                                 .message = mp_message_whole(message)});
    }
    RB_GC_GUARD(self); /* the tape is inside it, and growing it may run compaction */
    RB_GC_GUARD(message);
}

/* --- checking --------------------------------------------------------------------------------------- */

#define WORD_BITS 64
#define TYPE_WORDS (256 / WORD_BITS)

/*
 * The part of unpacking's checks that a tape can make. A message with any ext outside ext_types is left to unpacking.
 * That includes exts that unpacking refuses, and exts with a handler, because only the handler can tell.
 */
static mp_check
check_of(const mp_codec *codec, uint64_t types[TYPE_WORDS])
{
    const mp_options *options = &codec->options;
    bool handlers = codec->types && codec->types->unpacker_count;
    size_t word;

    for (word = 0; word < TYPE_WORDS; word++) types[word] = options->allow_unknown_ext && !handlers ? UINT64_MAX : 0;
    if (options->timestamp && !handlers) types[TYPE_WORDS - 1] |= UINT64_C(1) << (WORD_BITS - 1); /* type -1 */
    return (mp_check){
        .limits = options->limits, .utf8 = options->strict_utf8, .utf8_keys = options->symbolize_keys,
        .timestamps = options->timestamp || options->untrusted, .timestamp_range = options->untrusted,
        .unique_keys = options->unique_keys, .ext_types = types,
    };
}

/*
 * The Index of a message that unpacking is certain to accept. 0 if a tape cannot tell: the caller has to unpack the
 * message.
 */
static VALUE
accepted_index(VALUE message, const mp_codec *codec)
{
    VALUE self = index_new(message, mp_unpack_max_depth(&codec->options));
    uint64_t types[TYPE_WORDS];
    mp_noted_keys noted[MP_CHECK_NOTED];
    mp_check check = check_of(codec, types);
    mp_tape *tape;
    bool accepted;

    if (!self) return 0;
    tape = mp_view_index_tape(self, message);
    check.noted = noted;
    tape->checks = &check;
    accepted = mp_tape_finish(tape) == MP_OK && tape->at == tape->size;
    tape->checks = NULL;
    RB_GC_GUARD(self);
    RB_GC_GUARD(message);
    return accepted ? self : 0;
}

/*
 * If the tape accepts the message, unpacking would, too. Otherwise the message is unpacked, which raises the same error
 * as Manypack.unpack, or accepts it after all.
 */
VALUE
mp_view_index_checked(VALUE message, const mp_codec *codec)
{
    VALUE self = accepted_index(message, codec);

    if (self) return self;
    mp_decode_whole(message, codec);
    self = mp_view_index_new(message, mp_unpack_max_depth(&codec->options));
    if (self) mp_view_index_finish(self, message);
    return self;
}

void
mp_view_check_part(VALUE message, size_t start, size_t end, const mp_codec *codec)
{
    VALUE part = message;
    size_t at = start;

    if (start || end < (size_t)RSTRING_LEN(message)) part = rb_str_subseq(message, (long)start, (long)(end - start));
    if (accepted_index(part, codec)) return;
    mp_decode_part(message, &at, codec);
    if (at != end) mp_raise_extra_bytes(end - at, at, start ? 0 : message);
}
