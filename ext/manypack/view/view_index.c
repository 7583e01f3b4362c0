/*
 * The Index of a message, which all of its Views share. The core does the walking, and remembers where elements are
 * (core/tape.h, core/places.h, core/key_table.h); this file gives it memory, and checks messages.
 */
#include "view/view_index.h"

#include "base/error.h"
#include "core/places.h"
#include "unpack/decode.h"

#define FIRST_ENTRIES 16

/* Maps with fewer pairs get no table: making and using it takes as long as searching the pairs. */
#define MANY_PAIRS 64

typedef struct {
    mp_tape tape; /* of the whole message, or of its well-formed start */
    mp_places places;
    mp_key_table **tables; /* one for each entry of the tape, most are NULL; tables is NULL until the first is needed */
    size_t bytes;          /* size of places and tables */
} view_index;

/* Since 3.3 it fits a slot of 160 bytes. */
MP_STATIC_ASSERT(index_fits_a_slot, sizeof(view_index) <= 128);

static void
index_free(void *ptr)
{
    view_index *index = ptr;
    uint32_t entry;

    for (entry = 0; index->tables && entry < index->tape.count; entry++) xfree(index->tables[entry]);
    xfree(index->tables);
    xfree(index->places.first);
    xfree(index->places.at);
    xfree(index->tape.entries);
    mp_typed_free(ptr);
}

static size_t
index_memsize(const void *ptr)
{
    const view_index *index = ptr;

    return mp_typed_memsize(sizeof(view_index)) + index->tape.capacity * sizeof(mp_tape_entry) + index->bytes;
}

/* It refers to no object, so there is nothing to mark. */
static const rb_data_type_t index_type = {
    .wrap_struct_name = "Manypack::View::Index",
    .function = {.dfree = index_free, .dsize = index_memsize},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE | MP_TYPED_EMBEDDABLE,
};

/* Not checked: programs cannot get hold of an Index, so self always is one. */
static view_index *
index_get(VALUE self)
{
    return mp_typed_data(self);
}

mp_tape *
mp_view_index_tape(VALUE self, VALUE message)
{
    mp_tape *tape = &index_get(self)->tape;

    if (tape->bytes != (const uint8_t *)RSTRING_PTR(message)) tape->bytes = (const uint8_t *)RSTRING_PTR(message);
    return tape;
}

/* --- making it -------------------------------------------------------------------------------------- */

static bool
grow_tape(mp_tape *tape)
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
    tape->grow = grow_tape;
    return self;
}

static mp_look
look_of(VALUE self, VALUE message)
{
    mp_tape *tape = mp_view_index_tape(self, message);

    return (mp_look){.bytes = tape->bytes, .size = tape->size, .tape = tape};
}

/* When the tape is complete, notes where elements are, and frees memory that the tape does not need. */
static void
complete(VALUE self, VALUE message)
{
    view_index *index = index_get(self);
    uint32_t entries = index->tape.count, count;
    mp_look look;

    if (entries < index->tape.capacity) {
        REALLOC_N(index->tape.entries, mp_tape_entry, entries + 1);
        index->tape.capacity = entries + 1;
    }
    index->places.first = ALLOC_N(uint32_t, entries + 1);
    mp_view_index_tape(self, message);
    count = mp_places_count(&index->places, &index->tape);
    index->places.at = ALLOC_N(uint32_t, count);
    index->bytes = (entries + 1 + count) * sizeof(uint32_t);
    look = look_of(self, message);
    mp_places_fill(&index->places, &look);
}

VALUE
mp_view_index_new(VALUE message, uint32_t max_depth)
{
    VALUE self = RSTRING_LEN(message) < MP_VIEW_INDEX_MIN ? 0 : index_new(message, max_depth);

    if (!self) return 0;
    mp_tape_finish(mp_view_index_tape(self, message)); /* a fault is raised by the look that reaches it */
    complete(self, message);
    RB_GC_GUARD(self);
    RB_GC_GUARD(message);
    return self;
}

size_t
mp_view_index_end(VALUE self, VALUE message)
{
    const mp_tape *tape = mp_view_index_tape(self, message);

    if (tape->status != MP_OK) {
        mp_raise_status(tape->status, (mp_blame){.start = tape->bytes, .at = tape->bytes + mp_tape_blame(tape),
                                                 .end = tape->bytes + tape->size,
                                                 .message = mp_message_whole(message)});
    }
    RB_GC_GUARD(message);
    return tape->at;
}

/* --- elements of arrays ----------------------------------------------------------------------------- */

mp_status
mp_view_index_go(VALUE self, mp_cursor *cursor, uint32_t n)
{
    const view_index *index = index_get(self);
    uint32_t entry = n < MP_PLACES_MIN ? index->tape.count : mp_tape_entry_of(&index->tape, cursor->head);

    return entry < index->tape.count ? mp_places_go(&index->places, entry, cursor, n) : mp_cursor_skip(cursor, n);
}

/* --- keys of maps ------------------------------------------------------------------------------------- */

/* A number that differs between processes, made with Ruby's own secret. */
static uint64_t
secret(const char *name)
{
    return (uint64_t)rb_memhash(name, (long)strlen(name)) << 32 ^ rb_memhash(name, (long)strlen(name) - 1);
}

/* The size of a map in bytes, without the contents of the containers in it. */
static size_t
own_bytes(mp_cursor cursor)
{
    size_t bytes = 0;

    while (cursor.left) {
        size_t from = cursor.at;
        mp_kind kind = (mp_kind)MP_WIRE[cursor.look->bytes[from]].kind;

        if (mp_cursor_next(&cursor) != MP_OK) break;
        bytes += kind == MP_ARRAY || kind == MP_MAP ? 1 : cursor.at - from;
    }
    return bytes;
}

/* How many different keys fit in a pair of fewer than four bytes: keys of one byte, or of a head and one byte. */
#define SMALL_KEYS 384

/* The memory for tables of short maps with the smallest keys. */
static size_t
memory_left(const view_index *index)
{
    size_t most = index->tape.size / 2 + 1000;

    return index->bytes < most ? most - index->bytes : 0;
}

/*
 * The number of slots for the table of a map's keys: half of them stay unused, but the table takes at most 1.25 times
 * the bytes of the map. Only short maps of the smallest keys need more: they share memory_left, or get 0, for no table,
 * because walking them is quick.
 */
static uint32_t
slots_for(const view_index *index, size_t bytes, uint32_t pairs)
{
    size_t slots = mp_key_table_slots(pairs), most = bytes / 16 * 5, least = SMALL_KEYS + SMALL_KEYS / 4;

    if (most < pairs + pairs / 4 + 1 && most < least) most = memory_left(index) / sizeof(uint32_t);
    if (most > slots) most = slots;
    return most < least && most < pairs + pairs / 4 + 1 ? 0 : (uint32_t)most;
}

static mp_key_table *
table_new(uint32_t slots, mp_find_which which)
{
    mp_key_table *table = xcalloc(1, sizeof(mp_key_table) + (size_t)slots * sizeof(uint32_t));

    table->slots = (uint32_t *)(void *)(table + 1);
    table->capacity = slots;
    table->most = slots - slots / 6 - 1; /* a fuller table would make searches slow */
    table->seed[0] = secret("numbers");
    table->seed[1] = secret("texts");
    table->which = which;
    return table;
}

/* Makes the table of a map's keys, unless the map is small or has one. The map is complete and has an entry. */
static void
table_make(VALUE self, VALUE message, uint32_t entry, mp_find_which which)
{
    view_index *index = index_get(self);
    mp_look look = look_of(self, message);
    mp_cursor cursor;
    uint32_t slots;

    mp_cursor_open(&cursor, &look, index->tape.entries[entry].offset);
    cursor.near = entry + 1;
    if (cursor.left < 2 * MANY_PAIRS) return;
    slots = slots_for(index, own_bytes(cursor), (uint32_t)(cursor.left / 2));
    if (!slots) return;
    if (!index->tables) {
        index->tables = ZALLOC_N(mp_key_table *, index->tape.count);
        index->bytes += index->tape.count * sizeof(mp_key_table *);
    }
    index->tables[entry] = table_new(slots, which);
    index->bytes += sizeof(mp_key_table) + slots * sizeof(uint32_t);
    look.bytes = mp_view_index_tape(self, message)->bytes;
    mp_key_table_fill(index->tables[entry], &cursor); /* there is room for all, and the map is well formed */
}

const mp_key_table *
mp_view_index_keys(VALUE self, VALUE message, size_t head, uint64_t pairs, mp_find_which which)
{
    view_index *index = index_get(self);
    uint32_t entry = pairs < MANY_PAIRS ? index->tape.count : mp_tape_entry_of(&index->tape, head);
    const mp_key_table *table;

    if (entry == index->tape.count || mp_tape_open_p(&index->tape, entry)) return NULL;
    if (!RB_OBJ_FROZEN_RAW(self) && !(index->tables && index->tables[entry])) {
        table_make(self, message, entry, which);
    }
    table = index->tables ? index->tables[entry] : NULL;
    return table && table->twice && table->which != which ? NULL : table;
}

void
mp_view_index_freeze(VALUE self, VALUE message, mp_find_which which)
{
    const view_index *index = index_get(self);
    uint32_t entry;

    if (RB_OBJ_FROZEN(self)) return;
    for (entry = 0; entry < index->tape.count; entry++) {
        const uint8_t *bytes = mp_view_index_tape(self, message)->bytes;

        if (MP_WIRE[bytes[index->tape.entries[entry].offset]].kind != MP_MAP) continue;
        if (!index->tables || !index->tables[entry]) table_make(self, message, entry, which);
    }
    RB_OBJ_FREEZE(self);
    mp_obj_set_shareable(self); /* it refers to no object */
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
    bool handlers = mp_types_unpack_p(codec->types);
    size_t word;

    for (word = 0; word < TYPE_WORDS; word++) types[word] = options->allow_unknown_ext && !handlers ? UINT64_MAX : 0;
    if (options->timestamp && !handlers) types[TYPE_WORDS - 1] |= UINT64_C(1) << (WORD_BITS - 1); /* type -1 */
    return (mp_check){
        .limits = options->limits, .utf8 = options->strict_utf8, .utf8_keys = options->symbolize_keys,
        .timestamps = options->timestamp || options->untrusted, .timestamp_range = options->untrusted,
        .unique_keys = options->unique_keys, .ext_types = types,
    };
}

/* True if unpacking is certain to accept the bytes of an empty tape. */
static bool
accepted_p(mp_tape *tape, const mp_codec *codec)
{
    uint64_t types[TYPE_WORDS];
    mp_noted_keys noted[MP_CHECK_NOTED];
    mp_check check = check_of(codec, types);
    bool accepted;

    check.noted = noted;
    tape->checks = &check;
    accepted = mp_tape_finish(tape) == MP_OK && tape->at == tape->size;
    tape->checks = NULL;
    return accepted;
}

/*
 * An Index, yet to be completed, of a message that unpacking is certain to accept. 0 if a tape cannot tell: then the
 * caller must unpack the message.
 */
static VALUE
accepted_index(VALUE message, const mp_codec *codec)
{
    VALUE self = index_new(message, mp_unpack_max_depth(&codec->options));
    bool accepted;

    if (!self) return 0;
    accepted = accepted_p(mp_view_index_tape(self, message), codec);
    RB_GC_GUARD(self);
    RB_GC_GUARD(message);
    return accepted ? self : 0;
}

/* A message that needs more entries than this is checked with an Index. */
#define SHORT_ENTRIES 64

static bool
no_more(mp_tape *tape)
{
    return false;
}

/* True if unpacking is certain to accept a part of a message so short that it needs no Index. Allocates nothing. */
static bool
short_accepted_p(VALUE message, size_t start, size_t end, const mp_codec *codec)
{
    mp_tape_entry entries[SHORT_ENTRIES];
    uint32_t max_depth = mp_unpack_max_depth(&codec->options);
    bool accepted;
    mp_tape tape;

    if (end - start >= MP_VIEW_INDEX_MIN) return false;
    mp_tape_init(&tape, (const uint8_t *)RSTRING_PTR(message) + start, end - start, max_depth, MP_TAPE_KEEP);
    tape.entries = entries;
    tape.capacity = SHORT_ENTRIES;
    tape.grow = no_more;
    accepted = accepted_p(&tape, codec);
    RB_GC_GUARD(message);
    return accepted;
}

/*
 * If the tape accepts the message, unpacking would, too. Otherwise the message is unpacked, which raises the same error
 * as Manypack.unpack, or accepts it after all.
 */
VALUE
mp_view_index_checked(VALUE message, const mp_codec *codec)
{
    VALUE self;

    if (short_accepted_p(message, 0, (size_t)RSTRING_LEN(message), codec)) return 0;
    self = accepted_index(message, codec);
    if (self) complete(self, message);
    if (self) return self;
    mp_decode_whole(message, codec);
    self = mp_view_index_new(message, mp_unpack_max_depth(&codec->options));
    if (self) mp_view_index_end(self, message);
    return self;
}

void
mp_view_check_part(VALUE message, size_t start, size_t end, const mp_codec *codec)
{
    VALUE part = message;
    size_t at = start;

    if (short_accepted_p(message, start, end, codec)) return;
    if (start || end < (size_t)RSTRING_LEN(message)) part = rb_str_subseq(message, (long)start, (long)(end - start));
    if (accepted_index(part, codec)) return;
    mp_decode_part(message, &at, codec);
    if (at != end) mp_raise_extra_bytes(end - at, at, start ? 0 : message);
}
