# frozen_string_literal: true

# What is packed and unpacked: real documents where there are some, look-alikes elsewhere, and messages. Kept in files,
# in the format of each peer, so that the process that measures holds nothing but the bytes.

require "fileutils"
require "json"
require "tmpdir"
require_relative "../support/payloads"
require_relative "messages_file"

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

  # @return [String] the path of a file with all objects, packed by a peer
  def file(peer)
    path = File.join(self.class.folder, "inputs.#{peer.format}")
    @written ||= {}
    @written[peer.format] ||= write(path, @objects.values.map { |object| peer.pack(object) })
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

  def write(path, messages)
    MessagesFile.write(path, messages)
    path
  end
end
