/*
 * Writes packed bytes as JSON, in one walk that builds no objects.
 *
 *   mp_json_writer w;
 *
 *   mp_json_writer_init(&w, codec, end, 0);
 *   mp_window_init(&w.text);
 *   while (p < end && (status = mp_json_write(&w, &p)) == MP_OK) ... // the text of one message is in w.text
 *   if (status != MP_OK) ...                                         // p is at the head to blame
 */
#ifndef MANYPACK_JSON_WRITE_H
#define MANYPACK_JSON_WRITE_H

#include "codec/codec.h"
#include "core/status.h"
#include "json/json_noted.h"
#include "json/json_scalar.h"

typedef struct {
    mp_window text;      /* in UTF-8 */
    mp_window frames;    /* a frame for each container around the innermost one */
    mp_json_style style;
    const uint8_t *end;  /* of the bytes */
    const uint8_t *p;    /* the next object, */
    uint8_t *to;         /* and the place for its text, where MP_JSON_ROOM bytes are free */
    uint32_t max_depth, depth;
    bool nan, pretty, stringify, timestamp, duplicates;
    mp_bytes_as bin, ext;
    const mp_types *types; /* for the names of exts; may be NULL */
    bool at_key;         /* the head to blame is that of a key */
    bool as_terminal;    /* see mp_json_writer_for_terminal */
    mp_json_noted keys;
} mp_json_writer;

/* A short value is written at once if this many bytes are readable from its head on. */
enum { MP_JSON_AHEAD = 48 };

/* readable: how many bytes after end may be loaded; they are ignored. The caller makes w->text. */
void mp_json_writer_init(mp_json_writer *w, const mp_codec *codec, const uint8_t *end, size_t readable);

/* For the program manypack: fails for values with a notation of its own, and escapes what a terminal would obey. */
void mp_json_writer_for_terminal(mp_json_writer *w, const uint8_t *end);

/*
 * Appends the text of the object at *p and moves *p after it. On any other status than MP_OK, *p is at the head to
 * blame; MP_E_JSON is for a value that JSON cannot express and no option allows. The text then ends inside the object.
 */
mp_status mp_json_write(mp_json_writer *w, const uint8_t **p);

#endif
