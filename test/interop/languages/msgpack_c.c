/* Echoes messages by msgpack-c. */
#include "frames.h"
#include <msgpack.h>

static void say_object(text_t *text, const msgpack_object *object);

static void
say_map(text_t *text, const msgpack_object_map *map)
{
    say(text, "{\"map\":[");
    for (uint32_t i = 0; i < map->size; i++) {
        say(text, i ? ",[" : "[");
        say_object(text, &map->ptr[i].key);
        say(text, ",");
        say_object(text, &map->ptr[i].val);
        say(text, "]");
    }
    say(text, "]}");
}

static void
say_array(text_t *text, const msgpack_object_array *array)
{
    say(text, "[");
    for (uint32_t i = 0; i < array->size; i++) {
        if (i) say(text, ",");
        say_object(text, &array->ptr[i]);
    }
    say(text, "]");
}

static void
say_object(text_t *text, const msgpack_object *object)
{
    switch (object->type) {
      case MSGPACK_OBJECT_NIL: say(text, "null"); break;
      case MSGPACK_OBJECT_BOOLEAN: say(text, object->via.boolean ? "true" : "false"); break;
      case MSGPACK_OBJECT_POSITIVE_INTEGER: say_unsigned(text, object->via.u64); break;
      case MSGPACK_OBJECT_NEGATIVE_INTEGER: say_signed(text, object->via.i64); break;
      case MSGPACK_OBJECT_FLOAT32: say_f32(text, (float)object->via.f64); break;
      case MSGPACK_OBJECT_FLOAT64: say_f64(text, object->via.f64); break;
      case MSGPACK_OBJECT_STR: say_bytes(text, "str", object->via.str.ptr, object->via.str.size); break;
      case MSGPACK_OBJECT_BIN: say_bytes(text, "bin", object->via.bin.ptr, object->via.bin.size); break;
      case MSGPACK_OBJECT_EXT: say_ext(text, object->via.ext.type, object->via.ext.ptr, object->via.ext.size); break;
      case MSGPACK_OBJECT_ARRAY: say_array(text, &object->via.array); break;
      case MSGPACK_OBJECT_MAP: say_map(text, &object->via.map); break;
    }
}

static void
echo(const text_t *message)
{
    msgpack_unpacked unpacked;
    size_t at = 0;
    msgpack_unpacked_init(&unpacked);
    msgpack_unpack_return result = msgpack_unpack_next(&unpacked, message->bytes, message->size, &at);
    if (result != MSGPACK_UNPACK_SUCCESS || at != message->size) {
        const char *error = result == MSGPACK_UNPACK_SUCCESS ? "bytes are left" : "unpack_next failed";
        frame("", 0);
        frame(error, strlen(error));
    }
    else {
        msgpack_sbuffer packed;
        msgpack_packer packer;
        text_t said = {0};
        msgpack_sbuffer_init(&packed);
        msgpack_packer_init(&packer, &packed, msgpack_sbuffer_write);
        msgpack_pack_object(&packer, unpacked.data);
        say_object(&said, &unpacked.data);
        frame(packed.data, packed.size);
        frame(said.bytes, said.size);
        free(said.bytes);
        msgpack_sbuffer_destroy(&packed);
    }
    msgpack_unpacked_destroy(&unpacked);
}

int
main(int argc, char **argv)
{
    text_t message = {0};
    if (argc > 1 && !strcmp(argv[1], "--version")) return printf("msgpack-c %s C\n", msgpack_version()) < 0;
    while (next_message(&message)) echo(&message);
    free(message.bytes);
    return 0;
}
