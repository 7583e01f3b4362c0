# frozen_string_literal: true

# msgpack-ruby with its pull request 392, which gives each page back to malloc so that Ractors may use the gem; by the
# same pool as the released one. Measured when MSGPACK_RUBY says where a Git repository with that pull request is.
require "fileutils"
require "open3"
require "rbconfig"
require_relative "../payloads/ext_types"

module Contenders
  module WithMsgpack392
    REF = "refs/pull/392/head"
    FOLDER = File.expand_path("../../../vendor/benchmark/msgpack-392/" \
                              "#{RbConfig::CONFIG["arch"]}-#{RUBY_VERSION}", __dir__)

    def self.label = "msgpack #392"

    def self.load
      repository = ENV.fetch("MSGPACK_RUBY") { raise LoadError, "MSGPACK_RUBY names no repository" }
      build(repository) unless Dir.exist?(FOLDER)
      $LOAD_PATH.unshift(File.join(FOLDER, "lib"), File.join(FOLDER, "ext"))
      require "msgpack"
      renew
    end

    # For every case: a pool's cache takes the first 63 keys that it meets, and never others.
    def self.renew
      constants.grep(/POOL/).each { |name| remove_const(name) }
      const_set(:POOL, MessagePack::Factory.new.freeze.pool(1, key_cache: true))
      factory = Payloads::ExtTypes.register(MessagePack::Factory.new, MessagePack::Time).freeze
      const_set(:EXT_POOL, factory.pool(1, key_cache: true))
    end

    def self.version = "#{MessagePack::VERSION} with #392"
    def self.pack(object) = POOL.dump(object)
    def self.unpack(bytes) = POOL.load(bytes)
    def self.dump(object) = EXT_POOL.dump(object)
    def self.restore(bytes) = EXT_POOL.load(bytes)
    def self.packer(io) = MessagePack::Packer.new(io)
    def self.unpacker(io = nil) = MessagePack::Unpacker.new(io, key_cache: true)

    # Puts a finished build in its place, so that an unfinished one is never taken for it.
    def self.build(repository)
      unfinished = "#{FOLDER}.new"
      FileUtils.rm_rf(unfinished)
      execute("git", "init", "--quiet", unfinished, in_folder: __dir__)
      execute("git", "fetch", "--quiet", "--depth=1", repository, REF, in_folder: unfinished)
      execute("git", "checkout", "--quiet", "FETCH_HEAD", in_folder: unfinished)
      execute(RbConfig.ruby, "extconf.rb", in_folder: File.join(unfinished, "ext/msgpack"))
      execute("make", in_folder: File.join(unfinished, "ext/msgpack"))
      File.rename(unfinished, FOLDER)
    end

    def self.execute(*command, in_folder:)
      output, status = Open3.capture2e(*command, chdir: in_folder)
      raise LoadError, "#{command.join(" ")}: #{output}" unless status.success?
    end
    private_class_method :build, :execute
  end
end
