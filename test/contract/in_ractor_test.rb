# frozen_string_literal: true

# The contracts once more, each call in a Ractor of its own: what it returns or raises there is looked at here.
require "test_helper"
%w[values decoding decode_errors options limits packing].each { |name| require_relative "#{name}_contract" }

module InRactor
  # The last value of a Ractor is handed over as it is: not copied, frozen or not, shareable or not.
  module Front
    def pack(obj, **opts)
      call(:pack, obj, opts)
    end

    def unpack(binary, **opts)
      call(:unpack, binary, opts)
    end

    private

    def call(*request)
      outcome, value = in_ractor(*request) do |method, argument, opts|
        [:returned, Manypack.public_send(method, argument, **opts)]
      rescue StandardError => e
        [:raised, e]
      end
      outcome == :raised ? raise(value) : value
    end
  end

  class ValuesTest < Minitest::Test
    include Front
    include ValuesContract
  end

  class DecodingTest < Minitest::Test
    include Front
    include DecodingContract
  end

  class DecodeErrorsTest < Minitest::Test
    include Front
    include DecodeErrorsContract
  end

  class OptionsTest < Minitest::Test
    include Front
    include OptionsContract
  end

  class LimitsTest < Minitest::Test
    include Front
    include LimitsContract
  end

  class PackingTest < Minitest::Test
    include Front
    include PackingContract

    private

    # Ruby 4.1 may copy by Marshal what goes to a Ractor, and Marshal refuses anonymous classes.
    def takes?(object)
      in_ractor(object) { true }
    rescue Ractor::Error
      false
    end
  end
end
