# frozen_string_literal: true

# What is packed and unpacked: real documents where there are some, look-alikes elsewhere, and messages. Kept in files,
# in the format of each contender, so that the process that measures holds nothing but the bytes.

require "digest"
require "fileutils"
require "json"
require "tmpdir"
require_relative "../support/payloads"

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
    objects.inject(Digest::SHA256.new) { |digest, object| digest << object.inspect }.hexdigest
  end
end

class Inputs
  # @return [Hash{String => Object}] by name
  attr_reader :objects

  # Where packed messages lie while this program runs.
  #
  # @return [String]
  def self.folder
    @folder ||= Dir.mktmpdir("manypack-memory").tap { |folder| at_exit { FileUtils.remove_entry(folder) } }
  end

  # @param data [String, nil] a folder of JSON files
  def initialize(data)
    documents = data ? read(data) : Payloads.documents.reject { |name, _| name.start_with?("Image") } # no bytes in JSON
    @objects = documents.merge(Payloads.messages.reject { |_, message| message.is_a?(Integer) })
  end

  # @return [String] the path of a file with all objects, packed by a contender
  def file(contender)
    @written ||= {}
    @written[contender] ||= File.join(self.class.folder, "inputs.#{contender.label}").tap do |path|
      MessagesFile.write(path, @objects.values.map { |object| contender.pack(object) })
    end
  end

  # What comes out of them must show as.
  #
  # @return [String]
  def digest
    @digest ||= MessagesFile.digest(@objects.values)
  end

  private

  def read(data)
    Dir[File.join(data, "*.json")].sort.to_h do |path|
      [File.basename(path, ".json"), JSON.parse(File.read(path, encoding: "UTF-8"))]
    end
  end
end
