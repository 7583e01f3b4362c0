# frozen_string_literal: true

# What the tests with real libraries and servers need. `rake test:integration` runs them, with gems of their own.
require "minitest/autorun"
require "manypack"

Warning[:experimental] = false
