# frozen_string_literal: true

# The libraries of other languages that Manypack is compared with: how to install them, whether they are installed, and how
# to start the programs of this folder with them.

require "fileutils"
require "open3"

# A library in a language. needs is a command that succeeds if it is installed, or a Proc; from is what to install, by
# registry; build is a list of commands, run in the folder WORK; rules and cannot are those of notation.rb in which it differs.
Peer = Struct.new(:name, :language, :from, :needs, :build, :command, :rules, :cannot, keyword_init: true)

class Peer
  HERE = __dir__
  WORK = File.expand_path("../../../tmp/interop", __dir__)
  CRATES = "/usr/share/cargo/registry"
  GO = { "GO111MODULE" => "off", "GOPATH" => "/usr/share/gocode", "GOFLAGS" => "-buildvcs=false" }.freeze
  JAR = "/usr/share/java/msgpack-core.jar"

  class << self
    # The path of a file in this folder.
    def source(name) = File.join(HERE, name)

    def installed?(*command) = system(*command, in: File::NULL, %i[out err] => File::NULL) || false

    # The Python that has a module: Debian's packages are those of its own Python.
    def python(name)
      @python ||= Hash.new do |hash, key|
        hash[key] = %w[python3 /usr/bin/python3].find { |python| installed?(python, "-c", "import #{key}") }
      end
      @python[name]
    end

    def lua = @lua ||= %w[lua5.4 lua5.3 lua].find { |lua| installed?(lua, "-lMessagePack", "-e", "") }

    def header?(compiler, kind, header) = installed?(compiler, "-E", "-include", header, "-x#{kind}", File::NULL)

    def node?(library) = installed?("node", "--version") && File.directory?(File.join(WORK, "node_modules", library))

    # Cargo writes beside the sources, so they are copied.
    def rust
      FileUtils.cp_r(source("rust"), WORK)
      versions = { "LIBRARY_VERSION" => crate("rmp-serde")[/[\d.]+\z/],
                   "RUST_VERSION" => Open3.capture2("rustc", "--version", chdir: WORK).first[/[\d.]+/] }
      [[versions, "cargo", "build", "--quiet", "--release", "--offline", "--manifest-path", "rust/Cargo.toml",
        "--config", 'source.crates-io.replace-with="debian"', "--config", "source.debian.directory=#{CRATES.dump}"]]
    end

    def libmpack
      version = Open3.capture2e("dpkg-query", "-W", "-f", "${Version}", "libmpack-dev").first[/\A[\d.]+/]
      [["cc", "-O1", "-DLIBMPACK_VERSION=\"#{version}\"", source("libmpack.c"), "-o", "libmpack", "-lmpack"]]
    end

    def crate(name) = Dir.glob("#{CRATES}/#{name}-[0-9]*").max
  end

  def installed? = needs.call

  # Builds the program; raises with what the compiler said.
  def build!
    FileUtils.mkdir_p(WORK)
    (build&.call || []).each do |command|
      output, status = Open3.capture2e(*command, chdir: WORK)
      raise "#{self}: #{command.grep(String).join(" ")}\n#{output}" unless status.success?
    end
  end

  # "LIBRARY VERSION LANGUAGE VERSION"
  def version
    Open3.capture2(*command.call, "--version", chdir: WORK).first.strip
  end

  # Returns what the program answers to each message: the bytes it packed, nil if it refused them, and what it said.
  def echo(messages)
    input = messages.map { |message| [message.bytesize].pack("N") + message }.join
    output, error, status = Open3.capture3(*command.call, chdir: WORK, stdin_data: input, binmode: true)
    raise "#{self} ended with #{status}: #{error[0, 500]}" unless status.success?

    answers = frames(output).each_slice(2).map { |packed, said| [packed.empty? ? nil : packed, said.force_encoding("UTF-8")] }
    raise "#{self}: #{answers.size} answers to #{messages.size} messages" unless answers.size == messages.size

    answers
  end

  def to_s = "#{name} (#{language})"

  private

  def frames(output)
    frames = []
    at = 0
    while at < output.bytesize
      size = output.byteslice(at, 4).unpack1("N")
      frames << output.byteslice(at + 4, size)
      at += 4 + size
    end
    frames
  end

  ALL = [
    new(name: "msgpack", language: "Python", from: { debian: %w[python3-msgpack] }, needs: -> { python("msgpack") },
        command: -> { [python("msgpack"), source("python.py")] },
        rules: [], cannot: %i[float_keys container_keys negative_ext invalid_text]),
    *[["@msgpack/msgpack"], ["@msgpack/msgpack", "useBigInt64"], ["msgpackr"]].map do |library, *options|
      new(name: [library, *options].join(", "), language: "JavaScript", from: { npm: [library], debian: %w[nodejs npm] },
          needs: -> { node?(library) }, command: -> { ["node", source("javascript.mjs"), library, *options] },
          rules: %i[whole_floats_are_integers integer_keys_are_text maps_have_no_order] +
                 (library == "msgpackr" || options.any? ? [] : %i[large_integers_are_floats]),
          cannot: %i[nil_keys float_keys bin_keys container_keys ext_keys invalid_text bad_timestamps
                    fractions_of_milliseconds years_beyond_275760] +
                  (library == "msgpackr" ? %i[ext] : %i[more_than_30_levels integer_keys_of_64_bits]))
    end,
    new(name: "rmp-serde", language: "Rust", from: { debian: %w[cargo librust-rmp-serde-dev] },
        needs: -> { installed?("cargo", "--version") && crate("rmp-serde") },
        build: -> { rust }, command: -> { ["#{WORK}/rust/target/release/echo"] },
        rules: [], cannot: %i[invalid_text]),
    new(name: "vmihailenco/msgpack", language: "Go", from: { debian: %w[golang-go golang-github-vmihailenco-msgpack.v5-dev] },
        needs: -> { installed?(GO, "go", "list", "github.com/vmihailenco/msgpack/v5") },
        build: -> { [[GO, "go", "build", "-o", "go_echo", source("go.go")]] }, command: -> { ["#{WORK}/go_echo"] },
        rules: %i[maps_have_no_order], cannot: %i[container_keys bin_keys ext]),
    new(name: "msgpack-java", language: "Java", from: { debian: %w[default-jdk-headless libmsgpack-java] },
        needs: -> { installed?("javac", "-version") && File.exist?(JAR) },
        build: -> { [["javac", "-d", "java", "-cp", JAR, source("Echo.java")]] },
        command: -> { ["java", "-Dmsgpack.version=#{Dir.glob(JAR.sub(".jar", "-[0-9]*.jar")).max.to_s[/\d[\d.]*\d/]}", "-cp", "#{WORK}/java:#{JAR}", "Echo"] },
        rules: [], cannot: %i[bad_timestamps years_beyond_275760]),
    new(name: "msgpack-c", language: "C", from: { debian: %w[libmsgpack-dev] }, needs: -> { header?("cc", "c", "msgpack.h") },
        build: -> { [["cc", "-O1", source("msgpack_c.c"), "-o", "msgpack_c", "-lmsgpackc"]] }, command: -> { ["#{WORK}/msgpack_c"] },
        rules: [], cannot: %i[more_than_30_levels]),
    new(name: "libmpack", language: "C", from: { debian: %w[libmpack-dev] }, needs: -> { header?("cc", "c", "mpack.h") },
        build: -> { libmpack }, command: -> { ["#{WORK}/libmpack"] },
        rules: [], cannot: %i[integers_below_minus_128]),
    new(name: "nlohmann/json", language: "C++", from: { debian: %w[nlohmann-json3-dev] },
        needs: -> { header?("c++", "c++", "nlohmann/json.hpp") },
        build: -> { [["c++", "-O1", source("nlohmann.cpp"), "-o", "nlohmann"]] }, command: -> { ["#{WORK}/nlohmann"] },
        rules: %i[maps_have_no_order], cannot: %i[nil_keys integer_keys float_keys bin_keys container_keys ext_keys invalid_text]),
    new(name: "msgpack", language: "PHP", from: { debian: %w[php-cli php-msgpack] },
        needs: -> { installed?("php", "-r", 'exit(extension_loaded("msgpack") ? 0 : 1);') }, command: -> { ["php", "-d", "msgpack.php_only=0", source("php.php")] },
        rules: %i[bin_is_str uint64_is_text digits_as_keys_are_integers maps_from_0_are_arrays],
        cannot: %i[nil_keys float_keys container_keys ext timestamps]),
    new(name: "Data::MessagePack", language: "Perl", from: { debian: %w[libdata-messagepack-perl] },
        needs: -> { installed?("perl", "-MData::MessagePack", "-e1") }, command: -> { ["perl", source("perl.pl")] },
        rules: %i[bin_is_str integer_keys_are_text maps_have_no_order],
        cannot: %i[nil_keys float_keys container_keys ext timestamps more_than_30_levels]),
    new(name: "lua-messagepack", language: "Lua", from: { debian: %w[lua5.3 lua-messagepack] }, needs: -> { lua },
        command: -> { [lua, source("lua.lua")] },
        rules: %i[bin_is_str uint64_is_negative empty_maps_are_arrays maps_from_1_are_arrays maps_have_no_order],
        cannot: %i[nil_inside float_keys container_keys ext timestamps invalid_text])
  ].freeze

  # Neither Debian nor the npm registry has these: there is no program for them.
  MISSING = {
    "msgspec (Python)" => "only PyPI has it, not Debian 12",
    "ormsgpack (Python)" => "only PyPI has it, not Debian 12",
    "mpack of ludocode (C)" => "no package of Debian 12 has it",
    "Msgpax (Elixir, Erlang)" => "only Hex has it",
    "MessagePack-CSharp (C#)" => "only NuGet has it"
  }.freeze
end
