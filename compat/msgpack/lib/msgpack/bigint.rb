# frozen_string_literal: true

# Part of Manypack, which msgpack.rb loads as a whole.
require "msgpack"
