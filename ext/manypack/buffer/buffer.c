/* Manypack::Buffer: the Ruby class. */
#include "buffer/buffer_io.h"

static ID id_close;

/*
 * call-seq: Manypack::Buffer.new(io = nil, options = nil) -> buffer
 *
 * Creates an empty Buffer, which reads from and writes to the io, if there is one.
 *
 * io:: read from (<code>readpartial</code> or <code>read</code>) and written to (<code>write</code> or <code><<</code>)
 * io_buffer_size:: how many bytes to read from the io at a time (default 32768, at least 1024)
 * read_reference_threshold:: fed Strings of at least this size are referenced, not copied (default 256, at least 256)
 * write_reference_threshold:: the same for written Strings (default 524288, at least 256)
 *
 * Smaller sizes are raised to the minimum. Raises RangeError below 0, TypeError for a size that is not an Integer or an
 * io that is neither readable nor writable, and ArgumentError for an unknown option.
 *
 *   Manypack::Buffer.new(StringIO.new("abc"), io_buffer_size: 4096).read(2) #=> "ab"
 */
static VALUE
rb_buffer_initialize(int argc, VALUE *argv, VALUE self)
{
    VALUE io = Qnil, options = Qnil;
    int api = mp_api_of_object(self, &mp_cBuffer);

    mp_scan_io_options(argc, argv, &io, &options);
    mp_check_io(io, api);
    mp_buffer_options_check(options, api);
    rb_check_frozen(self);
    mp_buffer_init(self, io, options);
    return self;
}

/*
 * call-seq: buffer.clear -> nil
 *
 * Discards all bytes. The Buffer's Unpacker forgets an object that it has read in part. After an error of the io, the
 * Buffer and its Packer can be used again. Raises RuntimeError while its Packer or Unpacker works on the bytes.
 *
 *   buffer = Manypack::Buffer.new << "ab"
 *   buffer.clear #=> nil
 *   buffer.empty? #=> true
 */
static VALUE
rb_buffer_clear(VALUE self)
{
    mp_buffer_clear(self);
    return Qnil;
}

/*
 * call-seq: buffer.size -> Integer
 *
 * Returns the number of bytes in the Buffer. Does not read from the io. Raises RuntimeError while the bytes are being
 * read or flushed.
 *
 *   (Manypack::Buffer.new << "ab").size #=> 2
 */
static VALUE
rb_buffer_size(VALUE self)
{
    return SIZET2NUM(mp_buffer_to_look_at(self)->bytes.size);
}

/*
 * call-seq: buffer.empty? -> true or false
 *
 * Returns true if the Buffer has no bytes. Does not read from the io. Raises RuntimeError as size does.
 *
 *   Manypack::Buffer.new.empty? #=> true
 */
static VALUE
rb_buffer_empty_p(VALUE self)
{
    return mp_buffer_to_look_at(self)->bytes.size ? Qfalse : Qtrue;
}

/*
 * call-seq: buffer.write(string) -> Integer
 *
 * Appends the bytes of a String and returns how many. A long String is referenced, with its current content, not
 * copied. Raises TypeError for anything that is not a String, and RuntimeError as size does.
 *
 *   Manypack::Buffer.new.write("ab") #=> 2
 */
static VALUE
rb_buffer_write(VALUE self, VALUE string)
{
    const mp_buffer *buffer;
    size_t len;

    string = mp_packed_bytes(string);
    buffer = mp_buffer_checked(self);
    len = (size_t)RSTRING_LEN(string);
    mp_buffer_append(self, string, mp_loan_idle_p(&buffer->loan) ? buffer->write_reference_threshold : SIZE_MAX);
    return SIZET2NUM(len);
}

/*
 * call-seq: buffer << string -> buffer
 *
 * Appends the bytes of a String, with the errors of write.
 *
 *   (Manypack::Buffer.new << "a" << "b").to_s #=> "ab"
 */
static VALUE
rb_buffer_append(VALUE self, VALUE string)
{
    rb_buffer_write(self, string);
    return self;
}

/*
 * Reads from the io until n bytes are there or the io ends. Returns how many bytes are there, at most n. Sets eof to
 * the EOFError that the io raised at its end; 0 or nil if it raised none.
 */
static size_t
fill(VALUE self, size_t n, VALUE *eof)
{
    size_t size;

    *eof = 0;
    while ((size = mp_buffer_for_removal(self)->bytes.size) < n) {
        mp_io_bytes read = mp_buffer_read_io(self, n - size);

        *eof = read.eof;
        if (NIL_P(read.bytes)) break;
        mp_buffer_for_removal(self); /* others may have used the Buffer while the io was waiting */
        mp_buffer_feed_read(self, read);
    }
    size = mp_buffer_for_removal(self)->bytes.size; /* again: the io's read may use the Buffer, too */
    return size < n ? size : n;
}

NORETURN(static void raise_end(VALUE eof));

/* Raises the io's own EOFError or, if it raised none, one like Ruby's. */
static void
raise_end(VALUE eof)
{
    if (eof && !NIL_P(eof)) rb_exc_raise(eof);
    rb_eof_error();
}

typedef struct {
    size_t n;
    bool limited;
    VALUE into;
} read_arguments;

static read_arguments
scan_read(int argc, const VALUE *argv)
{
    read_arguments arguments = {.n = SIZE_MAX, .limited = false, .into = Qnil};

    rb_check_arity(argc, 0, 2);
    if (argc > 0 && !NIL_P(argv[0])) {
        arguments.n = mp_size(argv[0], "a number of bytes");
        arguments.limited = true;
    }
    if (argc > 1 && !NIL_P(argv[1])) {
        arguments.into = argv[1];
        StringValue(arguments.into);
    }
    return arguments;
}

/* Removes the first n bytes and returns them, in the caller's String if there is one. */
static VALUE
take_bytes(VALUE self, size_t n, const read_arguments *arguments)
{
    VALUE bytes = mp_bytes_to_s(self, &mp_buffer_get(self)->bytes, n), into = arguments->into;

    if (!NIL_P(into)) rb_str_replace(into, bytes); /* first, because it may raise */
    if (arguments->n) mp_buffer_before_removal(self, n);
    mp_bytes_consume(&mp_buffer_get(self)->bytes, n);
    return NIL_P(into) ? bytes : into;
}

/*
 * call-seq: buffer.read(n = nil, string = nil) -> String or nil
 *
 * Removes and returns up to n bytes, or all bytes without n, reading from the io as needed. If a String is given, the
 * bytes replace its content. Returns nil if no bytes are left, unless n is 0 or there are no arguments. Raises
 * RangeError for a negative n, TypeError for arguments of other classes, RuntimeError as clear does, and the errors of
 * the io.
 *
 *   buffer = Manypack::Buffer.new(StringIO.new("abc"))
 *   buffer.read(2) #=> "ab"
 *   buffer.read #=> "c"
 *   buffer.read(1) #=> nil
 */
static VALUE
rb_buffer_read(int argc, VALUE *argv, VALUE self)
{
    read_arguments arguments = scan_read(argc, argv);
    VALUE eof;
    size_t n = fill(self, arguments.n, &eof);

    if (n || !arguments.n || (!arguments.limited && NIL_P(arguments.into))) return take_bytes(self, n, &arguments);
    if (!NIL_P(arguments.into)) rb_str_resize(arguments.into, 0);
    mp_buffer_before_removal(self, 0);
    return Qnil;
}

/*
 * call-seq: buffer.read_all(n = nil, string = nil) -> String
 *
 * Removes and returns bytes as read does. If there are fewer than n bytes, raises EOFError and removes nothing.
 *
 *   (Manypack::Buffer.new << "abc").read_all(2) #=> "ab"
 */
static VALUE
rb_buffer_read_all(int argc, VALUE *argv, VALUE self)
{
    read_arguments arguments = scan_read(argc, argv);
    VALUE eof;
    size_t n = fill(self, arguments.n, &eof);

    if (n < arguments.n && arguments.limited) raise_end(eof);
    return take_bytes(self, n, &arguments);
}

/*
 * call-seq: buffer.skip(n) -> Integer
 *
 * Removes up to n bytes, reading from the io as needed, and returns how many. Raises the errors of read.
 *
 *   (Manypack::Buffer.new << "abc").skip(5) #=> 3
 */
static VALUE
rb_buffer_skip(VALUE self, VALUE n)
{
    VALUE eof;
    size_t size = mp_size(n, "a number of bytes"), there = fill(self, size, &eof);

    if (size) mp_buffer_before_removal(self, there);
    mp_bytes_consume(&mp_buffer_get(self)->bytes, there);
    return SIZET2NUM(there);
}

/*
 * call-seq: buffer.skip_all(n) -> buffer
 *
 * Removes n bytes. If there are fewer, raises EOFError and removes nothing. Raises the errors of read.
 *
 *   (Manypack::Buffer.new << "abc").skip_all(2).to_s #=> "c"
 */
static VALUE
rb_buffer_skip_all(VALUE self, VALUE n)
{
    size_t size = mp_size(n, "a number of bytes");
    VALUE eof;

    if (fill(self, size, &eof) < size) raise_end(eof);
    if (size) mp_buffer_before_removal(self, size);
    mp_bytes_consume(&mp_buffer_get(self)->bytes, size);
    return self;
}

/*
 * call-seq: buffer.io -> io or nil
 *
 * Returns the io of the Buffer, or nil. Raises RuntimeError as size does.
 *
 *   Manypack::Buffer.new.io #=> nil
 */
static VALUE
rb_buffer_io(VALUE self)
{
    return mp_buffer_to_look_at(self)->io;
}

/*
 * call-seq: buffer.flush -> buffer
 *
 * Writes all bytes to the io and removes them. Does nothing without an io. Raises RuntimeError as clear does, IOError
 * if the io takes nothing, and the errors of the io. After an error of the io, except IO::WaitWritable, nobody knows
 * how many bytes the io took: until clear, the Buffer shows its bytes and refuses everything else.
 *
 *   io = StringIO.new
 *   (Manypack::Buffer.new(io) << "ab").flush.size #=> 0
 *   io.string #=> "ab"
 */
static VALUE
rb_buffer_flush(VALUE self)
{
    mp_buffer_flush(self);
    return self;
}

/*
 * call-seq: buffer.close -> object
 *
 * Closes the io and returns what its close returns. Does nothing without an io. Raises the errors of the io.
 *
 *   Manypack::Buffer.new(StringIO.new).close #=> nil
 */
static VALUE
rb_buffer_close(VALUE self)
{
    VALUE io = mp_buffer_to_look_at(self)->io;

    return NIL_P(io) ? Qnil : rb_funcall(io, id_close, 0);
}

/*
 * call-seq: buffer.write_to(io) -> Integer
 *
 * Writes all bytes to an io, removes them, and returns how many they were. Raises RuntimeError as clear does, TypeError
 * for an io that cannot be written to, and the errors of the io.
 *
 *   (Manypack::Buffer.new << "ab").write_to(StringIO.new) #=> 2
 */
static VALUE
rb_buffer_write_to(VALUE self, VALUE io)
{
    return SIZET2NUM(mp_buffer_write_to(self, io));
}

/*
 * call-seq:
 *   buffer.to_s -> String
 *   buffer.to_str -> String
 *
 * Returns all bytes as a binary String. They stay in the Buffer. Raises RuntimeError as size does.
 *
 *   (Manypack::Buffer.new << "ab").to_s #=> "ab"
 */
static VALUE
rb_buffer_to_s(VALUE self)
{
    return mp_buffer_to_s(self);
}

/*
 * call-seq: buffer.to_a -> Array of Strings
 *
 * Returns all bytes as an Array of Strings, one for each chunk of the Buffer. Long Strings are not copied. Raises
 * RuntimeError as size does.
 *
 *   (Manypack::Buffer.new << "ab").to_a #=> ["ab"]
 */
static VALUE
rb_buffer_to_a(VALUE self)
{
    return mp_buffer_to_a(self);
}

/*
 * Document-class: Manypack::Buffer
 *
 * A queue of bytes, optionally connected to an io. Every Packer and Unpacker has one: <code>packer.buffer</code>,
 * <code>unpacker.buffer</code>.
 */
void
Init_manypack_buffer(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */
    VALUE cBuffer = rb_define_class_under(mManypack, "Buffer", rb_cObject);

    id_close = rb_intern("close");

    mp_two_classes(&mp_cBuffer, cBuffer);
    rb_define_alloc_func(cBuffer, mp_buffer_allocate);
    mp_undef_copies(cBuffer);

    rb_define_method(cBuffer, "initialize", rb_buffer_initialize, -1);
    rb_define_method(cBuffer, "clear", rb_buffer_clear, 0);
    rb_define_method(cBuffer, "size", rb_buffer_size, 0);
    rb_define_method(cBuffer, "empty?", rb_buffer_empty_p, 0);
    rb_define_method(cBuffer, "write", rb_buffer_write, 1);
    rb_define_method(cBuffer, "<<", rb_buffer_append, 1);
    rb_define_method(cBuffer, "read", rb_buffer_read, -1);
    rb_define_method(cBuffer, "read_all", rb_buffer_read_all, -1);
    rb_define_method(cBuffer, "skip", rb_buffer_skip, 1);
    rb_define_method(cBuffer, "skip_all", rb_buffer_skip_all, 1);
    rb_define_method(cBuffer, "io", rb_buffer_io, 0);
    rb_define_method(cBuffer, "flush", rb_buffer_flush, 0);
    rb_define_method(cBuffer, "close", rb_buffer_close, 0);
    rb_define_method(cBuffer, "write_to", rb_buffer_write_to, 1);
    rb_define_method(cBuffer, "to_s", rb_buffer_to_s, 0);
    rb_define_method(cBuffer, "to_str", rb_buffer_to_s, 0);
    rb_define_method(cBuffer, "to_a", rb_buffer_to_a, 0);
}
