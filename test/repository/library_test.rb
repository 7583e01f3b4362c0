# frozen_string_literal: true

# Integrations without the library that they integrate with: missing, or too old.
require "test_helper"
require "support/program"

class LibraryTest < Minitest::Test
  include ProgramHelper

  # Requiring the library does what the block says; RubyGems then knows it in that version.
  PRELUDE = <<~'RUBY'
    module Kernel
      alias real_require require
      def require(name)
        return real_require(name) unless name == LIBRARY
        return Gem.loaded_specs[name] = Gem::Specification.new(name, VERSION) if VERSION

        raise LoadError.new("cannot load such file -- #{name}").tap { |error| error.define_singleton_method(:path) { name } }
      end
    end
  RUBY

  # As if it had been loaded.
  WITHOUT_ACTIVE_SUPPORT = '$LOADED_FEATURES << "active_support.rb"; module ActiveSupport; module Cache; DeserializationError = Class.new(StandardError); end; end'

  def error_of(library, version, program)
    run_program(<<~RUBY)
      LIBRARY, VERSION = #{library.inspect}, #{version.inspect}
      #{PRELUDE}
      begin
        #{program}
      rescue LoadError => e
        puts e.message
      end
    RUBY
  end

  def test_a_library_is_loaded_without_rubygems
    program = "factory = Manypack::Factory.new; factory.register_common(:set); p factory.load(factory.dump(Set[1])).size"
    ruby = [{ "RUBYOPT" => nil }, RbConfig.ruby, "--disable-gems", "-I", LIB]
    assert_equal "1", output_of(*ruby, "-r", "manypack", "-r", "set", "-e", program).chomp
  end

  def test_a_library_that_is_missing_is_a_load_error_that_says_what_to_add
    { "manypack/waterdrop" => "waterdrop", "manypack/karafka" => "waterdrop" }.each do |file, library|
      assert_equal %(manypack/waterdrop needs waterdrop 2.4 or newer: add gem "waterdrop", ">= 2.4" to your Gemfile),
                   error_of(library, nil, "require #{file.dump}")
    end
    { "manypack/active_support" => "active_support", "manypack/rails" => "active_support" }.each do |file, library|
      assert_equal %(manypack/active_support needs activesupport 7.1 or newer: add gem "activesupport", ">= 7.1" to your Gemfile),
                   error_of(library, nil, "require #{file.dump}")
    end
    assert_equal 'manypack/rails needs actionpack 7.1 or newer: add gem "actionpack", ">= 7.1" to your Gemfile',
                 error_of("action_controller", nil, %(#{WITHOUT_ACTIVE_SUPPORT}; require "manypack/rails"))
    assert_equal 'manypack/rack needs rack 3.0 or newer: add gem "rack", ">= 3.0" to your Gemfile', error_of("rack", nil, 'require "manypack/rack"')
    assert_equal 'manypack/faraday needs faraday 2.0 or newer: add gem "faraday", ">= 2.0" to your Gemfile',
                 error_of("faraday", nil, 'require "manypack/faraday"')
    assert_equal 'register_common(:bigdecimal) needs bigdecimal: add gem "bigdecimal" to your Gemfile',
                 error_of("bigdecimal", nil, "Manypack::Factory.new.register_common(:bigdecimal)")
  end

  def test_a_library_that_is_too_old_is_a_load_error_too
    assert_equal %(manypack/waterdrop needs waterdrop 2.4 or newer, not 2.3.3: add gem "waterdrop", ">= 2.4" to your Gemfile),
                 error_of("waterdrop", "2.3.3", 'require "manypack/waterdrop"')
    assert_match(/\Amanypack\/rack needs rack 3\.0 or newer, not 2\.2\.9/, error_of("rack", "2.2.9", 'require "manypack/rack"'))
    assert_match(/\Amanypack\/faraday needs faraday 2\.0 or newer, not 1\.10\.4/, error_of("faraday", "1.10.4", 'require "manypack/faraday"'))
    assert_equal "Manypack::WaterDrop::Middleware", error_of("waterdrop", "2.4.0", <<~RUBY)
      require "manypack/waterdrop"
      puts Manypack::WaterDrop::Middleware
    RUBY
  end

  def test_another_library_that_is_missing_keeps_its_own_error
    assert_equal "cannot load such file -- other", run_program(<<~'RUBY')
      module Kernel
        alias real_require require
        def require(name) = real_require(name == "waterdrop" ? "other" : name)
      end
      begin
        require "manypack/waterdrop"
      rescue LoadError => error
        puts error.message
      end
    RUBY
  end
end
