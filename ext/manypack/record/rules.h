/*
 * Rules of a shape: what a value must be beyond its type, and what it is converted to. They know nothing of bytes, so
 * whatever has a value can apply them:
 *
 *   VALUE value = ..., error = 0;
 *   const mp_rule *broken = mp_rules_apply(&shape->rules, &value, &error);
 *
 *   if (!broken) use(value);                 // which may be another object now
 *   else if (error) explain(error);          // user code raised it
 *   else say("expected ", broken->words);
 */
#ifndef MANYPACK_RULES_H
#define MANYPACK_RULES_H

#include "base/support.h"

typedef enum {
    MP_RULE_LENGTH,   /* between min and max: characters, bytes, elements or pairs */
    MP_RULE_PATTERN,  /* a Regexp matches, and the text has at most max bytes */
    MP_RULE_UNIQUE,   /* no two elements of an Array are eql? */
    MP_RULE_MULTIPLE, /* a multiple of min; if that is 0, a callable decides */
    MP_RULE_RANGE,    /* inside a Range */
    MP_RULE_CHECK,    /* a callable returns neither nil nor false */
    MP_RULE_VIA,      /* a callable converts the value to an object of a class */
} mp_rule_kind;

/* A step of a pattern without alternatives: n characters of a set, none of which can begin the next step. */
typedef struct {
    uint8_t set[16]; /* a bit for each ASCII character */
    uint32_t least, most;
} mp_pattern_step;

typedef struct {
    mp_rule_kind kind;
    long min, max;
    VALUE object; /* the Regexp, the Range, or what is called */
    VALUE steps;  /* PATTERN: mp_pattern_steps, packed, for ASCII text; nil if only the Regexp can match */
    VALUE klass;  /* VIA: the class of the objects */
    VALUE dump;   /* VIA: converts an object back to a value; nil without one */
    VALUE record, member; /* VIA: the Record around it, and its member, a Symbol; nil outside of a Record */
    VALUE words;  /* what is expected; CHECK: the whole sentence */
    VALUE code;   /* a Symbol, for errors */
} mp_rule;

typedef struct {
    mp_rule *rules;
    uint32_t count;
    bool converts; /* a rule is a VIA */
} mp_rules;

/* The entry of a node, which is a Hash from Symbols that lib/manypack/record/type makes; nil without one. */
MP_INLINE VALUE
mp_node_get(VALUE node, const char *name)
{
    return rb_hash_lookup2(node, ID2SYM(rb_intern(name)), Qnil);
}

/* Reads an Array of Hashes, which lib/manypack/record/type/rules.rb makes; nil for none. rules must be zeroed. */
void mp_rules_init(mp_rules *rules, VALUE nodes);

void mp_rules_free(mp_rules *rules);
size_t mp_rules_memsize(const mp_rules *rules);

/*
 * Applies the rules in turn. Returns NULL if all hold: *value is then what it was converted to. Otherwise returns the
 * first broken rule; *error is the StandardError that user code raised, if any. *value must be on the C stack.
 */
const mp_rule *mp_rules_apply(const mp_rules *rules, VALUE *value, VALUE *error);

/* The last VIA, which dumping uses; NULL without one. */
const mp_rule *mp_rules_via(const mp_rules *rules);

#endif
