# frozen_string_literal: true

#--
# Loads the libraries that Manypack does not depend on, and those of its own files that few programs need.
#++
module Manypack
  # Loads optional gems, for files such as manypack/rack, which only programs that use the gem require.
  module Library # :nodoc:
    # Requires a gem. Raises LoadError with the line for the Gemfile if the gem is not installed or is older than
    # +at_least+.
    #
    # user:: what needs it, for the message
    # at_least:: the oldest version that works, a String, or nil
    # file:: what to require, if it is not the name of the gem
    # constant:: the name of a constant that the gem defines. If it is defined, nothing is required: before Ruby 3.4
    #            only the main Ractor can require a file
    def self.load(name, user:, at_least: nil, file: name, constant: nil)
      return if constant && Object.const_defined?(constant)

      require file
      check_version(name, user, at_least) if at_least
    rescue LoadError => error
      raise unless error.path == file

      raise LoadError, message(name, user, at_least, "")
    end

    # Makes Ruby load constants of a module on first use, to save time in programs that never use them. Before Ruby 4.0
    # it loads them at once: a comment in Parallel says why. Returns their names.
    #
    # files:: by constant, the absolute path of the file that defines it
    def self.load_on_first_use(owner, files)
      files.each { |name, path| defined?(Ractor::Port) ? owner.autoload(name, path) : require(path) }
      files.keys
    end

    # Only the main Ractor may ask RubyGems.
    def self.check_version(name, user, at_least)
      version = Gem.loaded_specs[name]&.version if defined?(Gem)
      return if version.nil? || version >= Gem::Version.new(at_least)

      raise LoadError, message(name, user, at_least, ", not #{version}")
    end
    private_class_method :check_version

    def self.message(name, user, at_least, found)
      line = ["gem #{name.dump}", (%(">= #{at_least}") if at_least)].compact.join(", ")
      "#{user} needs #{name}#{" #{at_least} or newer" if at_least}#{found}: add #{line} to your Gemfile"
    end
    private_class_method :message
  end
  private_constant :Library
end
