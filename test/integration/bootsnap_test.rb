# frozen_string_literal: true

# The drop-in in an application that Bootsnap boots, as it does with every new one of Rails, while the msgpack gem is in
# the bundle: with an empty cache, and with what the first run put there.
require "test_helper"
require "open3"
require "rbconfig"
require "tmpdir"

class BootsnapTest < Minitest::Test
  LIB = File.expand_path("../../lib", __dir__)

  BOOT = <<~RUBY
    require "manypack/drop_in"
    require "bootsnap"
    Bootsnap.setup(cache_dir: ARGV[0], load_path_cache: true, compile_cache_iseq: true, compile_cache_yaml: true)
    p [require("msgpack"), require("msgpack/timestamp"), MessagePack::VERSION, MessagePack.pack([1]).bytesize]
    require "yaml"
    p [YAML.load_file(ARGV[1]), Gem.loaded_specs.key?("msgpack"), $LOADED_FEATURES.grep(%r{/gems/msgpack-})]
  RUBY

  EXPECTED = <<~RUBY
    #{[false, false, "1.8.99", 2].inspect}
    #{[{ "a" => [1, "x"] }, true, []].inspect}
  RUBY

  def test_the_drop_in_stands_in_for_msgpack_under_bootsnap
    Dir.mktmpdir do |cache|
      yaml = File.join(cache, "some.yml").tap { |path| File.write(path, "a: [1, x]\n") }
      2.times do
        out, status = Open3.capture2e(RbConfig.ruby, "-I", LIB, "-e", BOOT, cache, yaml)
        assert_equal EXPECTED, out
        assert_predicate status, :success?
      end
    end
  end
end
