# frozen_string_literal: true

#--
# What a program may expect by another name: the error says what it is called here.
#++

begin
  # Ruby 4.1 loads it with the first error that it shows: ours may need it where no file can be loaded any more.
  Object.const_get(:DidYouMean) if Object.autoload?(:DidYouMean)
rescue LoadError
  nil # then errors do without suggestions
end

module Manypack
  # Included in a class, or extended by it, for errors that name what there is in place of a method that is not there.
  module Guesses # :nodoc:
    # Extends an error that has a hint, to which Ruby would add a name that resembles the wrong one.
    module Certain
      def corrections = []
    end

    # Raises the NameError of a constant that is not there, with what to use instead, or nil.
    def self.no_constant(owner, name, hint)
      error = NameError.new("uninitialized constant #{owner}::#{name}#{"; #{hint}" if hint}", name, receiver: owner)
      Arguments.refuse(hint ? error.extend(Certain) : error)
    end

    # Returns the one of the known names that resembles a name, or nil. Where DidYouMean could not be loaded, asking for
    # it raises.
    def self.similar(name, known)
      DidYouMean::SpellChecker.new(dictionary: known).correct(name).first if defined?(DidYouMean::SpellChecker)
    rescue LoadError, StandardError
      nil
    end

    private

    # Returns what to do instead of calling a method of that name, or nil. A class may know more.
    def guess(name)
      Hints.method(self, name)
    end

    def method_missing(name, *, **)
      hint = guess(name)
      begin
        return super unless hint
      rescue ::NameError => error
        Arguments.refuse(error)
      end
      called = is_a?(Module) ? self : "an instance of #{self.class}"
      error = NoMethodError.new("undefined method '#{name}' for #{called}; #{hint}", name, receiver: self)
      Arguments.refuse(error.extend(Certain))
    end

    # So that Ruby asks no further when it looks for a conversion.
    def respond_to_missing?(_name, _all)
      false
    end
  end
  private_constant :Guesses

  extend Guesses

  class << self
    def to_json = nil
    undef_method :to_json # that of every object, which json defines, would be taken for one that converts bytes
  end

  # Names in the error what there is in place of a class of another name.
  def self.const_missing(name)
    Guesses.no_constant(self, name, Hints.for(:constant, name.to_sym))
  end
  private_class_method :const_missing
end
