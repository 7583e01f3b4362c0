/*
 * The floors of the extension, from the ground up. A file uses only what is below it.
 *
 *   ../../core   MessagePack without Ruby: heads (wire.h), the output window (out.h), steps over objects (skip.h)
 *   ground       compat platform support options path user_code error io moment stack
 *   caches       cache_table string_table key_cache value_cache symbol_cache hash_template result_size spare
 *                ractor: all that a Ractor keeps from one call to the next
 *   config       types: extension types and their handlers; codec: types and options, immutable
 *   packing      bytes: the queue of chunks; loan: who may use it; buffer: the class over both
 *                written: the check of what user code wrote
 *                encoder: the state of encoding; foreign: what needs user code; encode: the walk
 *                window: output that the collector owns; canonical_form: the one form of a value
 *   unpacking    tree: the place in nested containers; value_stack decoder: the state of decoding
 *                key_flood nesting objects ext: its parts; decode: the loop
 *                stream: the place in pieces that come one by one; reader: the resumable machine over both
 *   classes      packer packer_write
 *                unpacker_object: how the collector sees it; body_unpacker: over the body of an ext; unpacker
 *                view_index: the index of a message; peek: a look into it; view view_each search splice
 *   records      field_table shape loader record_error instance lazy_record load_scalar record_walk
 *                load lazy_read typed_dump type
 *   face         manypack: Manypack.pack, Manypack.unpack and the methods of a Codec
 *   on top       factory bigint timestamp_ext split batch outbox isolate json_text json_parse stream_check
 *
 * There are two seams, where a machine calls user code that comes back with a class from above:
 *
 *   foreign.c calls to_msgpack or the handler of an ext type with a Packer, which encodes (packer.h)
 *   ext.c calls the handler of a recursive ext type with an Unpacker over its body, which decodes (body_unpacker.h)
 */
#include "base/support.h"

void Init_manypack_support(void);
void Init_manypack_options(void);
void Init_manypack_error(void);
void Init_manypack_io(void);
void Init_manypack_ractor(void);
void Init_manypack_types(void);
void Init_manypack_codec(void);
void Init_manypack_foreign(void);
void Init_manypack_buffer(void);
void Init_manypack_key_flood(void);
void Init_manypack_stream(void);
void Init_manypack_reader(void);
void Init_manypack_packer(void);
void Init_manypack_packer_write(void);
void Init_manypack_unpacker(void);
void Init_manypack_view(void);
void Init_manypack_view_each(void);
void Init_manypack_search(void);
void Init_manypack_splice(void);
void Init_manypack_record_error(void);
void Init_manypack_instance(void);
void Init_manypack_lazy_record(void);
void Init_manypack_lazy_read(void);
void Init_manypack_type(void);
void Init_manypack_face(void);
void Init_manypack_factory(void);
void Init_manypack_bigint(void);
void Init_manypack_timestamp_ext(void);
void Init_manypack_split(void);
void Init_manypack_batch(void);
void Init_manypack_outbox(void);
void Init_manypack_isolate(void);
void Init_manypack_json_text(void);
void Init_manypack_json_parse(void);
void Init_manypack_stream_check(void);

/* Makes the classes of Records. type.rb calls it, which is loaded on first use. */
static VALUE
rb_manypack_init_records(VALUE self)
{
    rb_ext_ractor_safe(true);

    Init_manypack_record_error();
    Init_manypack_instance();
    Init_manypack_lazy_record();
    Init_manypack_lazy_read();
    Init_manypack_type();
    return Qnil;
}

RUBY_FUNC_EXPORTED void
Init_manypack(void)
{
    rb_ext_ractor_safe(true); /* before the first rb_define_*: a method defined earlier stays unsafe */

    Init_manypack_support();
    Init_manypack_options();
    Init_manypack_error();
    Init_manypack_io();
    Init_manypack_ractor();
    Init_manypack_types();
    Init_manypack_codec();
    Init_manypack_foreign();
    Init_manypack_buffer();
    Init_manypack_key_flood();
    Init_manypack_stream();
    Init_manypack_reader();
    Init_manypack_packer();
    Init_manypack_packer_write();
    Init_manypack_unpacker();
    Init_manypack_view();
    Init_manypack_view_each();
    Init_manypack_search();
    Init_manypack_splice();
    Init_manypack_face();
    Init_manypack_factory();
    Init_manypack_bigint();
    Init_manypack_timestamp_ext();
    Init_manypack_split();
    Init_manypack_batch();
    Init_manypack_outbox();
    Init_manypack_isolate();
    Init_manypack_json_text();
    Init_manypack_json_parse();
    Init_manypack_stream_check();

    rb_define_private_method(rb_singleton_class(mp_mManypack), "init_records", rb_manypack_init_records, 0);
}
