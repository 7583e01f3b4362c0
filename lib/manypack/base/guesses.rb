# frozen_string_literal: true

#--
# Hints in errors: a method or a class that a program expects may have another name here.
#++

begin
  # Ruby 4.1 loads it with the first error that it shows: ours may need it where no file can be loaded any more.
  Object.const_get(:DidYouMean) if Object.autoload?(:DidYouMean)
rescue LoadError
  nil # errors then make no suggestions
end

module Manypack
  # Included in a class, or extending one, so that the error for an unknown method names what to call instead.
  module Guesses # :nodoc:
    # Extends an error that has a hint, so that Ruby does not also suggest a similar name.
    module Certain
      def corrections = []
    end

    # Raises the NameError for a missing constant. The hint, a String or nil, says what to use instead.
    def self.no_constant(owner, name, hint)
      error = NameError.new("uninitialized constant #{owner}::#{name}#{"; #{hint}" if hint}", name, receiver: owner)
      Arguments.refuse(hint ? error.extend(Certain) : error)
    end

    # Returns the known name that is most similar to a name, or nil. If DidYouMean could not be loaded, naming it
    # raises.
    def self.similar(name, known)
      DidYouMean::SpellChecker.new(dictionary: known).correct(name).first if defined?(DidYouMean::SpellChecker)
    rescue LoadError, StandardError
      nil
    end

    private

    # Returns what to do instead of calling a method of that name, or nil. A class may know more.
    def guess(name) = Hints.method(self, name)

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

    # Stops Ruby from calling method_missing when it looks for a conversion.
    def respond_to_missing?(_name, _all) = false
  end
  private_constant :Guesses

  extend Guesses

  class << self
    def to_json = nil
    undef_method :to_json # json defines it for every object; it would look as if it converted bytes
  end

  # Adds to the error what to use instead of a class that other libraries have.
  def self.const_missing(name) = Guesses.no_constant(self, name, Hints.for(:constant, name.to_sym))
  private_class_method :const_missing
end
