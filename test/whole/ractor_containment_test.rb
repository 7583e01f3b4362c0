# frozen_string_literal: true

# Since Ruby 4.1 every Ractor collects its own garbage, and sees no reference from another Ractor to an object that is
# not shareable. So no object of ours holds such a reference, and what is registered with the collector is registered in
# the main Ractor.
require "test_helper"
require "support/program"

class RactorContainmentTest < Minitest::Test
  include ProgramHelper

  # Handlers of the main Ractor alone, and what a Ractor can make with the types of DefaultFactory.
  WITHHELD = <<~'RUBY'
    require "objspace"
    seen = []
    Manypack::DefaultFactory.register_type(1, Range, packer: ->(range) { seen << range && "r" }, unpacker: ->(body) { seen << body && body })
    def make
      factory = Manypack::DefaultFactory
      packer = Manypack::Packer.new.tap { |one| one.write([1]).register_type(2, Complex, :to_s) }
      [factory, factory.codec, factory.codec.with(freeze: true), factory.dup, factory.packer, factory.unpacker, factory.pool, packer,
       factory.dup.tap { |one| one.register_type(2, Complex, packer: :to_s) }, Manypack::Unpacker.new, Manypack::Unpacker.new.feed("\x91"),
       Manypack::Codec.new(freeze: true), Manypack::View.new("\x91\x01".b), Manypack::Type[[Integer]], Manypack::Record.new(Struct.new(:a), a: Object),
       (Manypack.pack(1..2) rescue $!), (Manypack.unpack("\xD4\x01a".b) rescue $!), Manypack.unpack("\x91\x01".b, freeze: true)]
    end

    # The Codecs that objects refer to, by way of other objects of Manypack.
    def codecs(objects)
      found = {}.compare_by_identity
      while (object = objects.pop)
        next if found[object] || !object.class.name.to_s.match?(/\A(Manypack|Array|Hash)\b/)

        found[object] = true
        objects.concat(ObjectSpace.reachable_objects_from(object).grep_v(ObjectSpace::InternalObjectWrapper))
      end
      found.keys.grep(Manypack::Codec)
    end
  RUBY

  def test_every_codec_that_a_ractor_comes_by_is_shareable
    assert_program <<~RUBY, "[true, []]\n[true, false]"
      #{WITHHELD}
      p codecs(value(Ractor.new { make })).then { |all| [all.size > 3, all.reject { |one| Ractor.shareable?(one) }] }
      p codecs(make).then { |all| [all.size > 3, all.all? { |one| Ractor.shareable?(one) }] }
    RUBY
  end

  def test_a_codec_that_a_ractor_gives_back_refuses_the_handlers_that_were_kept_from_it
    assert_program <<~RUBY, "the handler of ext type 1 for Range cannot be shared between Ractors\n2"
      #{WITHHELD}
      codec = value(Ractor.new { Manypack::DefaultFactory.codec(freeze: true) })
      begin
        codec.pack(1..2)
      rescue Ractor::IsolationError => e
        puts e.message[/[^:]*/]
      end
      Manypack.pack(1..2) && Manypack.unpack("\\xD4\\x01a".b)
      puts seen.size
    RUBY
  end

  def test_a_handler_that_can_be_shared_takes_the_place_of_one_that_cannot
    assert_program <<~RUBY, '["\\xD4\\x01s", "\\xD4\\x01s"]'
      #{WITHHELD}
      ractor = Ractor.new { Ractor.receive && Manypack.pack(1..2) }
      Manypack::DefaultFactory.register_type(1, Range, packer: Ractor.make_shareable(Object.instance_eval { ->(_) { "s" } }), unpacker: nil)
      ractor.send(true)
      p [value(ractor), Manypack.pack(1..2)]
    RUBY
  end

  # Registered by another Ractor, it would be kept only as long as that one lives.
  REGISTERS = /rb_gc_register_(?:mark_object|address)|rb_global_variable/
  WHEN_LOADED = %w[mp_const mp_two_classes mp_redefined_watch rb_internal_time_handlers rb_internal_stand_in rb_internal_watch
                   mp_foreign_set_attached rb_internal_attach_by].freeze

  def test_what_is_registered_with_the_collector_is_registered_when_a_file_is_loaded
    functions = Dir[File.expand_path("../../ext/manypack/**/*.c", __dir__)].flat_map do |path|
      File.read(path, encoding: "UTF-8").scan(/^(\w+)\([^;{]*\)\n\{\n(.*?)^\}/m)
    end
    callers = ->(pattern) { functions.select { |_, body| body.match?(pattern) }.map(&:first).grep_v(/\AInit_|\Arb_manypack_init_/) }
    assert_empty callers[REGISTERS] - WHEN_LOADED
    assert_empty callers[/\b(?:#{WHEN_LOADED.join("|")})\(/] - WHEN_LOADED
  end

  if RUBY_VERSION >= "3.4" # before, no other Ractor can load a file
    def test_a_ractor_may_be_the_first_to_load_everything
      program = <<~'RUBY'
        def use
          [MessagePack.unpack(StringIO.new("\x91\x01".b)), Manypack::Record.new(Struct.new(:a), a: Integer).load("\x81\xA1a\x05".b).a, (Manypack.unpack("\xC1".b) rescue $!.class)]
        end
        ractor = Ractor.new { require("stringio") && require("manypack/drop_in") && Manypack.eager_load! || use }
        first = ractor.respond_to?(:value) ? ractor.value : ractor.take
        GC.start
        GC.compact if GC.respond_to?(:compact)
        p first == use && first
      RUBY
      options = ["-W0", "-I", LIB, "-e", program]
      assert_equal "[[1], 5, MessagePack::MalformedFormatError]", output_of({ "RUBYOPT" => nil }, RbConfig.ruby, *options).chomp
    end
  end
end
