# frozen_string_literal: true

# Packed messages in a file, each behind its length.
module MessagesFile
  module_function

  # @param path [String]
  # @param messages [Array<String>]
  def write(path, messages)
    File.open(path, "wb") { |file| messages.each { |message| file << [message.bytesize].pack("N") << message } }
  end

  # @param path [String]
  # @return [Array<String>] frozen
  def read(path)
    File.open(path, "rb") do |file|
      messages = []
      while (length = file.read(4))
        messages << file.read(length.unpack1("N")).freeze
      end
      messages
    end
  end

  # What objects show as, in short; of equal ones it is the same.
  #
  # @param objects [Enumerable]
  # @return [String]
  def digest(objects)
    require "digest"
    objects.inject(Digest::SHA256.new) { |digest, object| digest << object.inspect }.hexdigest
  end
end
