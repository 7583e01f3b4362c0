# frozen_string_literal: true

#--
# Loads the libraries that Manypack does not depend on.
#++
module Manypack
  # For the files that a program requires if it uses the library as well.
  module Library
    # Requires a gem. Raises LoadError with the line for the Gemfile if the gem is not installed or older than that.
    #
    # user:: what needs it, for the message
    # at_least:: the oldest version that works, a String, or nil
    # file:: what to require, unless that has the name of the gem
    def self.load(name, user:, at_least: nil, file: name)
      require file
      version = Gem.loaded_specs[name]&.version if defined?(Gem)
      return if at_least.nil? || version.nil? || version >= Gem::Version.new(at_least)

      raise LoadError, message(name, user, at_least, ", not #{version}")
    rescue LoadError => error
      raise unless error.path == file

      raise LoadError, message(name, user, at_least, "")
    end

    def self.message(name, user, at_least, found)
      line = ["gem #{name.dump}", (%(">= #{at_least}") if at_least)].compact.join(", ")
      "#{user} needs #{name}#{" #{at_least} or newer" if at_least}#{found}: add #{line} to your Gemfile"
    end
    private_class_method :message
  end
  private_constant :Library
end
