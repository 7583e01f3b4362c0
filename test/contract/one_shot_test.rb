# frozen_string_literal: true

# The contracts, as Manypack.pack and Manypack.unpack keep them.
require "test_helper"
%w[values decoding decode_errors options limits packing].each { |name| require_relative "#{name}_contract" }

# The pack and unpack of every test of ours are those.
module OneShot
  class ValuesTest < Minitest::Test
    include CorePart
    include ValuesContract
  end

  class DecodingTest < Minitest::Test
    include CorePart
    include DecodingContract
  end

  class DecodeErrorsTest < Minitest::Test
    include CorePart
    include DecodeErrorsContract
  end

  class OptionsTest < Minitest::Test
    include CorePart
    include OptionsContract
  end

  class LimitsTest < Minitest::Test
    include CorePart
    include LimitsContract
  end

  class PackingTest < Minitest::Test
    include CorePart
    include PackingContract
  end
end
