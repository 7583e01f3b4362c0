# frozen_string_literal: true

#--
# Loads the libraries that Manypack does not depend on.
#++
module Manypack
  # For the files that a program requires if it uses the library as well.
  module Library # :nodoc:
    # Requires a gem. Raises LoadError with the line for the Gemfile if the gem is not installed or older than that.
    #
    # user:: what needs it, for the message
    # at_least:: the oldest version that works, a String, or nil
    # file:: what to require, unless that has the name of the gem
    # constant:: what the gem defines, a String: if it is there, nothing is required, because a Ractor cannot before
    #            Ruby 3.4
    def self.load(name, user:, at_least: nil, file: name, constant: nil)
      return if constant && Object.const_defined?(constant)

      require file
      check_version(name, user, at_least) if at_least
    rescue LoadError => error
      raise unless error.path == file

      raise LoadError, message(name, user, at_least, "")
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
