# frozen_string_literal: true

# What bench.rb packs and unpacks: documents, and the messages that a service sends.

require "json"
require_relative "payloads"

# Objects by name.
module Workload
  # @param folder [String, nil] of JSON files; nil for the look-alikes
  # @return [Hash{String => Object}] name to object
  def self.payloads(folder)
    documents = folder ? read(folder) : Payloads.documents
    documents.merge(Payloads.messages)
  end

  # The objects of all JSON files of a folder, by the names of the files.
  def self.read(folder)
    Dir[File.join(folder, "*.json")].sort.to_h { |path| [File.basename(path, ".json"), JSON.parse(File.read(path, encoding: "UTF-8"))] }
  end
  private_class_method :read
end
