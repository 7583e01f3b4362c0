/* Frames and lines of JSON for the programs in C: see README.md. */
#ifndef FRAMES_H
#define FRAMES_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that grow. */
typedef struct {
    char *bytes;
    size_t size, capacity;
} text_t;

static inline void
add(text_t *text, const void *bytes, size_t size)
{
    if (text->size + size > text->capacity) {
        text->capacity = (text->size + size) * 2;
        text->bytes = (char *)realloc(text->bytes, text->capacity);
        if (!text->bytes) abort();
    }
    if (size) memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

static inline void
say(text_t *text, const char *word)
{
    add(text, word, strlen(word));
}

static inline void
say_signed(text_t *text, int64_t n)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRId64, n);
    say(text, digits);
}

static inline void
say_unsigned(text_t *text, uint64_t n)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, n);
    say(text, digits);
}

static inline void
say_hex(text_t *text, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char digits[3];
        snprintf(digits, sizeof(digits), "%02x", ((const unsigned char *)bytes)[i]);
        add(text, digits, 2);
    }
}

static inline void
say_bytes(text_t *text, const char *type, const void *bytes, size_t size)
{
    say(text, "{\"");
    say(text, type);
    say(text, "\":\"");
    say_hex(text, bytes, size);
    say(text, "\"}");
}

static inline void
say_f64(text_t *text, double value)
{
    uint64_t bits;
    char digits[17];
    memcpy(&bits, &value, 8);
    snprintf(digits, sizeof(digits), "%016" PRIx64, bits);
    say(text, "{\"f64\":\"");
    say(text, digits);
    say(text, "\"}");
}

static inline void
say_f32(text_t *text, float value)
{
    uint32_t bits;
    char digits[9];
    memcpy(&bits, &value, 4);
    snprintf(digits, sizeof(digits), "%08" PRIx32, bits);
    say(text, "{\"f32\":\"");
    say(text, digits);
    say(text, "\"}");
}

static inline void
say_ext(text_t *text, int type, const void *bytes, size_t size)
{
    say(text, "{\"ext\":[");
    say_signed(text, type);
    say(text, ",\"");
    say_hex(text, bytes, size);
    say(text, "\"]}");
}

/* Reads one message from standard input; 0 at its end. */
static inline int
next_message(text_t *message)
{
    unsigned char head[4];
    if (fread(head, 1, 4, stdin) != 4) return 0;
    size_t size = (size_t)head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3];
    char *bytes = (char *)malloc(size + 1);
    if (!bytes || fread(bytes, 1, size, stdin) != size) abort();
    message->size = 0;
    add(message, bytes, size);
    free(bytes);
    return 1;
}

static inline void
frame(const void *bytes, size_t size)
{
    unsigned char head[4] = {(unsigned char)(size >> 24), (unsigned char)(size >> 16), (unsigned char)(size >> 8),
                             (unsigned char)size};
    fwrite(head, 1, 4, stdout);
    fwrite(bytes, 1, size, stdout);
}

#endif
