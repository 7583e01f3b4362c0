/* Finds known keys of JSON, and makes room for new ones. */
#include "json/json_keys.h"

#include "core/unique.h"

void
mp_known_keys_init(mp_known_keys *known, const uint8_t *text)
{
    known->text = text;
    known->count = 1;
    known->keys[0].n = 0;
    memset(known->first, 0, sizeof(known->first));
    memset(known->slots, 0, sizeof(known->slots));
    mp_window_init(&known->decoded);
}

static const uint8_t *
known_text(const mp_known_keys *known, const mp_known_key *key)
{
    return (key->decoded ? known->decoded.out.start : known->text) + key->text;
}

static uint16_t
add(mp_known_keys *known, unsigned depth, const uint8_t *bytes, size_t n, const uint8_t *in_text)
{
    mp_known_key *key = &known->keys[known->count];

    *key = (mp_known_key){.n = (uint8_t)n, .depth = depth & 0x7f, .decoded = !in_text};
    if (in_text) {
        key->text = (uint32_t)(in_text - known->text);
    } else {
        key->text = (uint32_t)mp_out_size(&known->decoded.out);
        mp_out_write(&known->decoded.out, bytes, n);
    }
    return known->count++;
}

uint16_t
mp_known_key_find(mp_known_keys *known, unsigned depth, const uint8_t *bytes, size_t n, const uint8_t *in_text)
{
    uint32_t hash = 0;

    if (n > MP_KNOWN_SIZE) return 0;
    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 0x01000193u;
    hash = (hash ^ depth) * 0x9e3779b1u >> 16;
    for (unsigned probe = 0; probe < MP_KNOWN_PROBES; probe++) {
        uint16_t *slot = &known->slots[(hash + probe) % MP_KNOWN_SLOTS];
        const mp_known_key *key = &known->keys[*slot];

        if (!*slot) {
            if (known->count == MP_KNOWN_KEYS) return 0;
            return *slot = add(known, depth, bytes, n, in_text);
        }
        if (key->n == n && key->depth == depth && !memcmp(known_text(known, key), bytes, n)) return *slot;
    }
    return 0;
}
