# frozen_string_literal: true

# For programs that require one file of the msgpack gem: msgpack.rb loads all of Manypack.
require "msgpack"
