# frozen_string_literal: true

# The classes of the extension that only the program of the terminal uses, without that program.
Manypack.__send__(:init_terminal) unless Manypack.const_defined?(:JSONText)
