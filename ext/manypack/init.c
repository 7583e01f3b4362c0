/*
 * The folders of the extension are floors. A file includes headers of its own folder and of the folders that it may
 * use, all below it (but see ext.c). From the ground up, with the folders that each may use; core, beside ext, is
 * MessagePack without Ruby:
 *
 *   base      versions of Ruby, options, errors, the user's io and code   core
 *   caches    what a Ractor keeps from one call to the next               base core
 *   codec     extension types and options, immutable                      base caches core
 *   buffer    bytes in chunks, and who may use them                       base caches core
 *   pack      objects to bytes: Packer                                    base caches codec buffer core
 *   unpack    bytes to objects                                            base caches codec core
 *   stream    objects from bytes that come in pieces: Unpacker            base caches codec buffer unpack core
 *   view      finding and changing values in bytes, not unpacked: View     base caches codec pack unpack core
 *   path      queries for values in bytes: Path                           base view core
 *   json      bytes to JSON and back                                      base codec buffer pack view core
 *   parallel  streams in batches, and what Ractors exchange               base codec core
 *   record    bytes to objects of your classes and back: Type, Record     base codec pack unpack stream view json core
 *   terminal  what only the program `manypack` uses, loaded with it       base codec buffer path json core
 *
 * On top, manypack.c has Manypack.pack, Manypack.unpack and the methods of a Codec, factory.c has Factory, and
 * redefined.c calls the methods of the drop-in that a program has redefined.
 *
 * At two seams a floor calls user code, which comes back through a class of Ruby:
 *
 *   foreign.c calls to_msgpack or the handler of an ext type with a Packer, which encodes (packer.h)
 *   ext.c calls the handler of a recursive ext type with an Unpacker over its body, which decodes (body_unpacker.h)
 */
#include "base/support.h"

void Init_manypack_support(void);
void Init_manypack_options(void);
void Init_manypack_lenient(void);
void Init_manypack_error(void);
void Init_manypack_pack_error(void);
void Init_manypack_io(void);
void Init_manypack_ractor(void);
void Init_manypack_parsed_paths(void);
void Init_manypack_types(void);
void Init_manypack_codec(void);
void Init_manypack_buffer(void);
void Init_manypack_key_flood(void);
void Init_manypack_objects(void);
void Init_manypack_stream(void);
void Init_manypack_unpacker_read(void);
void Init_manypack_packer(void);
void Init_manypack_packer_write(void);
void Init_manypack_unpack_io(void);
void Init_manypack_unpacker(void);
void Init_manypack_view(void);
void Init_manypack_view_each(void);
void Init_manypack_view_find(void);
void Init_manypack_view_whole(void);
void Init_manypack_path(void);
void Init_manypack_changes(void);
void Init_manypack_splice(void);
void Init_manypack_record_error(void);
void Init_manypack_load_scalar(void);
void Init_manypack_instance(void);
void Init_manypack_lazy_record(void);
void Init_manypack_lazy_read(void);
void Init_manypack_type(void);
void Init_manypack_face(void);
void Init_manypack_factory(void);
void Init_manypack_redefined(void);
void Init_manypack_bigint(void);
void Init_manypack_timestamp_ext(void);
void Init_manypack_splitter(void);
void Init_manypack_stop(void);
void Init_manypack_outbox(void);
void Init_manypack_isolate(void);
void Init_manypack_json_error(void);
void Init_manypack_from_json(void);
void Init_manypack_to_json(void);
void Init_manypack_json_text(void);
void Init_manypack_stream_check(void);
void Init_manypack_tally(void);
void Init_manypack_stream_search(void);
void Init_manypack_head_lines(void);

/* Makes the classes of Records. type.rb, which is loaded on first use, calls it. */
static VALUE
rb_manypack_init_records(VALUE self)
{
    rb_ext_ractor_safe(true);

    Init_manypack_record_error();
    Init_manypack_load_scalar();
    Init_manypack_instance();
    Init_manypack_lazy_record();
    Init_manypack_lazy_read();
    Init_manypack_type();
    return Qnil;
}

/* Makes the classes in terminal/. Called by lib/manypack/terminal.rb, which only the program loads. */
static VALUE
rb_manypack_init_terminal(VALUE self)
{
    rb_ext_ractor_safe(true);

    Init_manypack_json_text();
    Init_manypack_stream_check();
    Init_manypack_tally();
    Init_manypack_stream_search();
    Init_manypack_head_lines();
    return Qnil;
}

RUBY_FUNC_EXPORTED void
Init_manypack(void)
{
    rb_ext_ractor_safe(true); /* before the first rb_define_*: a method defined earlier stays unsafe */

    Init_manypack_support();
    Init_manypack_options();
    Init_manypack_lenient();
    Init_manypack_error();
    Init_manypack_pack_error();
    Init_manypack_io();
    Init_manypack_ractor();
    Init_manypack_parsed_paths();
    Init_manypack_types();
    Init_manypack_codec();
    Init_manypack_buffer();
    Init_manypack_key_flood();
    Init_manypack_objects();
    Init_manypack_stream();
    Init_manypack_unpacker_read();
    Init_manypack_packer();
    Init_manypack_packer_write();
    Init_manypack_unpack_io();
    Init_manypack_unpacker();
    Init_manypack_view();
    Init_manypack_view_each();
    Init_manypack_view_find();
    Init_manypack_view_whole();
    Init_manypack_path();
    Init_manypack_changes();
    Init_manypack_splice();
    Init_manypack_face();
    Init_manypack_factory();
    Init_manypack_redefined();
    Init_manypack_bigint();
    Init_manypack_timestamp_ext();
    Init_manypack_splitter();
    Init_manypack_stop();
    Init_manypack_outbox();
    Init_manypack_isolate();
    Init_manypack_to_json();
    Init_manypack_json_error();
    Init_manypack_from_json();

    rb_define_private_method(rb_singleton_class(mp_mManypack), "init_records", rb_manypack_init_records, 0);
    rb_define_private_method(rb_singleton_class(mp_mManypack), "init_terminal", rb_manypack_init_terminal, 0);
}
