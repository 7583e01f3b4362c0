/* Echoes messages by libmpack, which Neovim uses: token by token, since it has no objects of its own. */
#include "frames.h"
#include <mpack.h>

typedef struct {
    mpack_tokbuf_t reader, writer;
    const char *at;
    size_t left;
    text_t packed, said;
} echo_t;

static void
write_token(echo_t *echo, const mpack_token_t *token)
{
    char room[64], *at = room;
    size_t left = sizeof(room);
    mpack_write(&echo->writer, &at, &left, token);
    add(&echo->packed, room, sizeof(room) - left);
}

/* Packs and says the bytes of a str, bin or ext. */
static int
echo_payload(echo_t *echo, size_t size)
{
    while (size > 0) {
        mpack_token_t chunk;
        if (!echo->left || mpack_read(&echo->reader, &echo->at, &echo->left, &chunk) != MPACK_OK) return 0;
        add(&echo->packed, chunk.data.chunk_ptr, chunk.length);
        say_hex(&echo->said, chunk.data.chunk_ptr, chunk.length);
        size -= chunk.length;
    }
    echo->writer.passthrough = 0;
    return 1;
}

static int echo_value(echo_t *echo);

static int
echo_elements(echo_t *echo, uint32_t count)
{
    say(&echo->said, "[");
    for (uint32_t i = 0; i < count; i++) {
        if (i) say(&echo->said, ",");
        if (!echo_value(echo)) return 0;
    }
    say(&echo->said, "]");
    return 1;
}

static int
echo_map(echo_t *echo, uint32_t count)
{
    say(&echo->said, "{\"map\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (i) say(&echo->said, ",");
        if (!echo_elements(echo, 2)) return 0;
    }
    say(&echo->said, "]}");
    return 1;
}

static int
echo_string(echo_t *echo, const char *start, const char *end, size_t size)
{
    say(&echo->said, start);
    if (!echo_payload(echo, size)) return 0;
    say(&echo->said, end);
    return 1;
}

static int
echo_ext(echo_t *echo, const mpack_token_t *token)
{
    say(&echo->said, "{\"ext\":[");
    say_signed(&echo->said, token->data.ext_type);
    return echo_string(echo, ",\"", "\"]}", token->length);
}

static int
echo_value(echo_t *echo)
{
    mpack_token_t token;
    if (!echo->left || mpack_read(&echo->reader, &echo->at, &echo->left, &token) != MPACK_OK) return 0;
    mpack_token_t packed = token;
    if (token.type == MPACK_TOKEN_UINT) packed = mpack_pack_uint(mpack_unpack_uint(token));
    if (token.type == MPACK_TOKEN_SINT) packed = mpack_pack_sint(mpack_unpack_sint(token));
    write_token(echo, &packed);
    switch (token.type) {
      case MPACK_TOKEN_NIL: say(&echo->said, "null"); return 1;
      case MPACK_TOKEN_BOOLEAN: say(&echo->said, mpack_unpack_boolean(token) ? "true" : "false"); return 1;
      case MPACK_TOKEN_UINT: say_unsigned(&echo->said, mpack_unpack_uint(token)); return 1;
      case MPACK_TOKEN_SINT: say_signed(&echo->said, mpack_unpack_sint(token)); return 1;
      case MPACK_TOKEN_FLOAT:
        if (token.length == 4) say_f32(&echo->said, (float)mpack_unpack_float_fast(token));
        else say_f64(&echo->said, mpack_unpack_float_fast(token));
        return 1;
      case MPACK_TOKEN_ARRAY: return echo_elements(echo, token.length);
      case MPACK_TOKEN_MAP: return echo_map(echo, token.length);
      case MPACK_TOKEN_BIN: return echo_string(echo, "{\"bin\":\"", "\"}", token.length);
      case MPACK_TOKEN_STR: return echo_string(echo, "{\"str\":\"", "\"}", token.length);
      case MPACK_TOKEN_EXT: return echo_ext(echo, &token);
      default: return 0;
    }
}

int
main(int argc, char **argv)
{
    text_t message = {0};
    echo_t echo = {0};
    if (argc > 1 && !strcmp(argv[1], "--version")) return printf("libmpack %s C\n", LIBMPACK_VERSION) < 0;
    while (next_message(&message)) {
        mpack_tokbuf_init(&echo.reader);
        mpack_tokbuf_init(&echo.writer);
        echo.at = message.bytes;
        echo.left = message.size;
        echo.packed.size = echo.said.size = 0;
        int done = echo_value(&echo) && !echo.left;
        frame(echo.packed.bytes, done ? echo.packed.size : 0);
        if (done) frame(echo.said.bytes, echo.said.size);
        else frame("refused", 7);
    }
    return 0;
}
