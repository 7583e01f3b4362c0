/* Applies the rules of a shape to values. */
#include "record/rules.h"

#include "unpack/key_flood.h"

#include <ruby/re.h>

/* --- storage ---------------------------------------------------------------------------------------- */

static mp_rule_kind
rule_kind(VALUE name)
{
    static const char *const names[] = {
        [MP_RULE_LENGTH] = "length", [MP_RULE_PATTERN] = "pattern", [MP_RULE_UNIQUE] = "unique",
        [MP_RULE_MULTIPLE] = "multiple_of", [MP_RULE_RANGE] = "range", [MP_RULE_CHECK] = "check",
        [MP_RULE_VIA] = "via",
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (name == ID2SYM(rb_intern(names[i]))) return (mp_rule_kind)i;
    }
    rb_raise(rb_eArgError, "%+" PRIsVALUE " is no kind of rule", name);
}

static mp_rule
rule_of(VALUE node)
{
    VALUE min = mp_node_get(node, "min"), max = mp_node_get(node, "max");

    return (mp_rule){.kind = rule_kind(mp_node_get(node, "kind")), .min = NIL_P(min) ? 0 : NUM2LONG(min),
                     .max = NIL_P(max) ? LONG_MAX : NUM2LONG(max), .object = mp_node_get(node, "object"),
                     .klass = mp_node_get(node, "class"), .dump = mp_node_get(node, "dump"),
                     .steps = mp_node_get(node, "steps"),
                     .record = mp_node_get(node, "record"), .member = mp_node_get(node, "member"),
                     .words = mp_node_get(node, "words"), .code = mp_node_get(node, "code")};
}

void
mp_rules_init(mp_rules *rules, VALUE nodes)
{
    long i, n = NIL_P(nodes) ? 0 : RARRAY_LEN(nodes);

    if (!n) return;
    rules->rules = ZALLOC_N(mp_rule, n);
    for (i = 0; i < n; i++) {
        rules->rules[i] = rule_of(RARRAY_AREF(nodes, i));
        if (rules->rules[i].kind == MP_RULE_VIA) rules->converts = true;
        rules->count++;
    }
}

void
mp_rules_free(mp_rules *rules)
{
    xfree(rules->rules);
}

size_t
mp_rules_memsize(const mp_rules *rules)
{
    return rules->count * sizeof(mp_rule);
}

const mp_rule *
mp_rules_via(const mp_rules *rules)
{
    uint32_t i;

    for (i = rules->count; rules->converts && i > 0; i--) {
        if (rules->rules[i - 1].kind == MP_RULE_VIA) return &rules->rules[i - 1];
    }
    return NULL;
}

/* --- text ------------------------------------------------------------------------------------------- */

/* A Symbol counts as its text. */
static VALUE
rule_text(VALUE value)
{
    return RB_SYMBOL_P(value) ? rb_sym2str(value) : value;
}

/* Characters are counted only if the number of bytes does not decide: each has one to four. */
static bool
text_length_p(const mp_rule *rule, VALUE text)
{
    long n = RSTRING_LEN(text);

    if (mp_utf8_index_p(RB_ENCODING_GET_INLINED(text))) {
        if (MP_LIKELY(n <= rule->max && (n + 3) / 4 >= rule->min)) return true;
        if (n < rule->min || n / 4 > rule->max) return false;
    }
    n = rb_str_strlen(text);
    return n >= rule->min && n <= rule->max;
}

typedef enum { MATCH_NO, MATCH_YES, MATCH_UNKNOWN } match_result;

/* MATCH_UNKNOWN without steps, or at the first character that is not ASCII. */
static match_result
match_steps(VALUE steps, VALUE text)
{
    const mp_pattern_step *step, *last;
    const uint8_t *p = (const uint8_t *)RSTRING_PTR(text), *end = p + RSTRING_LEN(text);
    int index = RB_ENCODING_GET(text);

    if (NIL_P(steps) || !(mp_utf8_index_p(index) || index == mp_binary_index)) return MATCH_UNKNOWN;
    step = (const mp_pattern_step *)RSTRING_PTR(steps);
    last = step + (size_t)RSTRING_LEN(steps) / sizeof(*step);
    for (; step < last; step++) {
        uint32_t n = 0;

        while (p < end && n < step->most) {
            if (*p >= 0x80) return MATCH_UNKNOWN;
            if (!(step->set[*p >> 3] >> (*p & 7) & 1)) break;
            p++;
            n++;
        }
        if (n < step->least) return MATCH_NO;
    }
    return p == end ? MATCH_YES : MATCH_NO;
}

/*
 * Matches without Regexp#match?, which compiles a Regexp again for other encodings: this Regexp is of UTF-8, and the
 * text is UTF-8 or ASCII. No user code runs, but Ruby may switch Threads, so a text with its own memory is searched in
 * a frozen copy that shares it. Raises a TimeoutError after Regexp.timeout.
 */
static bool
search_p(const mp_rule *rule, VALUE text)
{
    const OnigUChar *start, *end;
    OnigPosition found;
    VALUE kept = text;
    int range = rb_enc_str_coderange(text);

    if (RSTRING_LEN(text) > rule->max || range == ENC_CODERANGE_BROKEN) return false;
    if (range != ENC_CODERANGE_7BIT && !mp_utf8_index_p(ENCODING_GET(text))) return false;
    if (FL_TEST_RAW(text, RSTRING_NOEMBED)) kept = rb_str_new_frozen(text);
    start = (const OnigUChar *)RSTRING_PTR(kept);
    end = start + RSTRING_LEN(kept);
    found = onig_search(RREGEXP_PTR(rule->object), start, end, start, end, NULL, ONIG_OPTION_NONE);
    if (MP_UNLIKELY(found < ONIG_MISMATCH)) return RTEST(rb_funcall(rule->object, rb_intern("match?"), 1, kept));
    RB_GC_GUARD(kept);
    return found >= 0;
}

/* --- numbers and Arrays ----------------------------------------------------------------------------- */

/* Up to this many elements are compared with one another; more are put into a Hash. */
enum { COMPARED_MAX = 8 };

static bool
repeated_in_hash_p(VALUE array)
{
    VALUE pairs = rb_ary_new_capa(RARRAY_LEN(array) * 2), hash;
    long i, n = RARRAY_LEN(array);

    for (i = 0; i < n && i < RARRAY_LEN(array); i++) {
        rb_ary_push(pairs, RARRAY_AREF(array, i));
        rb_ary_push(pairs, Qtrue);
    }
    mp_same_hash_check(pairs, 0);
    hash = rb_hash_new();
    for (i = 0; i < RARRAY_LEN(pairs); i += 2) rb_hash_aset(hash, RARRAY_AREF(pairs, i), Qtrue);
    return (long)RHASH_SIZE(hash) < RARRAY_LEN(pairs) / 2;
}

static bool
unique_p(VALUE array)
{
    long i, j;

    if (RARRAY_LEN(array) > COMPARED_MAX) return !repeated_in_hash_p(array);
    for (i = 0; i < RARRAY_LEN(array); i++) {
        for (j = 0; j < i; j++) {
            if (rb_eql(RARRAY_AREF(array, i), RARRAY_AREF(array, j))) return false;
        }
    }
    return true;
}

/* --- applying --------------------------------------------------------------------------------------- */

typedef struct {
    const mp_rule *rule;
    VALUE value, error;
    bool kept;
} rule_call;

static bool
size_p(const mp_rule *rule, VALUE size)
{
    return RB_FIXNUM_P(size) && FIX2LONG(size) >= rule->min && FIX2LONG(size) <= rule->max;
}

/* Applies a rule that may run user code. */
static VALUE
call_rule(VALUE arg)
{
    rule_call *call = (rule_call *)arg;
    const mp_rule *rule = call->rule;
    VALUE value = call->value;

    switch (rule->kind) {
      case MP_RULE_PATTERN: call->kept = search_p(rule, rule_text(value)); break;
      case MP_RULE_LENGTH: call->kept = size_p(rule, rb_funcall(value, rb_intern("size"), 0)); break;
      case MP_RULE_UNIQUE: call->kept = RB_TYPE_P(value, T_ARRAY) && unique_p(value); break;
      case MP_RULE_RANGE: call->kept = RTEST(rb_funcall(rule->object, rb_intern("cover?"), 1, value)); break;
      case MP_RULE_MULTIPLE:
      case MP_RULE_CHECK: call->kept = RTEST(rb_funcall(rule->object, rb_intern("call"), 1, value)); break;
      default:
        call->value = rb_funcall(rule->object, rb_intern("call"), 1, value);
        call->kept = RTEST(rb_obj_is_kind_of(call->value, rule->klass));
    }
    return Qnil;
}

static VALUE
failed(VALUE arg, VALUE error)
{
    rule_call *call = (rule_call *)arg;

    call->kept = false;
    call->error = error;
    return Qnil;
}

/* Applies a rule without user code. False if the rule may need some. */
static bool
applied_at_once_p(rule_call *call)
{
    const mp_rule *rule = call->rule;
    VALUE value = rule_text(call->value);
    match_result match;
    long size;

    switch (rule->kind) {
      case MP_RULE_LENGTH:
        if (RB_TYPE_P(value, T_STRING)) {
            call->kept = text_length_p(rule, value);
            return true;
        }
        if (RB_TYPE_P(value, T_ARRAY)) size = RARRAY_LEN(value);
        else if (RB_TYPE_P(value, T_HASH)) size = (long)RHASH_SIZE(value);
        else return false;
        call->kept = size >= rule->min && size <= rule->max;
        return true;
      case MP_RULE_PATTERN:
        match = RB_TYPE_P(value, T_STRING) ? match_steps(rule->steps, value) : MATCH_NO;
        call->kept = match == MATCH_YES;
        return match != MATCH_UNKNOWN;
      case MP_RULE_MULTIPLE:
        if (!RB_FIXNUM_P(value) || !rule->min) return false;
        call->kept = FIX2LONG(value) % rule->min == 0;
        return true;
      default: return false;
    }
}

const mp_rule *
mp_rules_apply(const mp_rules *rules, VALUE *value, VALUE *error)
{
    rule_call call = {.value = *value};
    uint32_t i;

    for (i = 0; i < rules->count; i++) {
        call.rule = &rules->rules[i];
        if (!applied_at_once_p(&call)) {
            rb_rescue2(call_rule, (VALUE)&call, failed, (VALUE)&call, rb_eStandardError, (VALUE)0);
        }
        if (MP_LIKELY(call.kept)) continue;
        *error = call.error;
        return call.rule;
    }
    *value = call.value;
    return NULL;
}
