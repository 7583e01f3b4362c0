# frozen_string_literal: true

#--
# The door between the Ruby half and the C half of Manypack.
#++
module Manypack
  # Functions of the extension that only other files of lib/manypack call. The first argument is the object that a
  # function works on: it raises TypeError for an object of another class. Every Ractor may call them. Each C file
  # defines its own.
  module Internal # :nodoc:
    # Has constants of a module loaded on first use, which saves programs that never use them the time. Before Ruby 4.0
    # they are loaded now: a comment in Parallel says why. Returns their names.
    #
    # files:: by constant, the absolute path of the file that defines it
    def self.load_on_first_use(owner, files)
      files.each { |name, path| defined?(Ractor::Port) ? owner.autoload(name, path) : require(path) }
      files.keys
    end
  end
  private_constant :Internal
end
