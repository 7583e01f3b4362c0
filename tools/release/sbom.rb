# frozen_string_literal: true

# The software bill of materials of a gem, in CycloneDX 1.6: the gem, its dependencies, and its files by SHA-256.
require "digest"
require "json"
require "rubygems/package"
require "time"
require "zlib"

module Release
  # A bill that depends on the gem's bytes alone, so that two builds have the same one.
  class Sbom
    # path:: of a gem
    def initialize(path)
      @path = path
      @spec = Gem::Package.new(path).spec
    end

    # Writes the bill beside the gem and returns its path.
    def write
      path = @path.sub(/\.gem\z/, ".cdx.json")
      File.write(path, "#{JSON.pretty_generate(to_h)}\n")
      path
    end

    def to_h
      { "$schema" => "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat" => "CycloneDX",
        "specVersion" => "1.6", "serialNumber" => "urn:uuid:#{uuid}", "version" => 1,
        "metadata" => { "timestamp" => @spec.date.iso8601, "component" => component },
        "components" => dependencies + files,
        "dependencies" => [{ "ref" => purl, "dependsOn" => dependencies.map { |one| one["bom-ref"] } }] }
    end

    private

    def component
      { "type" => "library", "bom-ref" => purl, "name" => @spec.name, "version" => @spec.version.to_s, "purl" => purl,
        "description" => @spec.summary, "licenses" => @spec.licenses.map { |id| { "license" => { "id" => id } } },
        "hashes" => hashes(File.binread(@path)),
        "externalReferences" => [{ "type" => "vcs", "url" => @spec.homepage }] }
    end

    def purl
      platform = @spec.original_platform.to_s
      "pkg:gem/#{@spec.name}@#{@spec.version}#{"?platform=#{platform}" unless platform == "ruby"}"
    end

    def dependencies
      @spec.runtime_dependencies.map do |one|
        { "type" => "library", "bom-ref" => "pkg:gem/#{one.name}", "name" => one.name, "purl" => "pkg:gem/#{one.name}",
          "description" => one.requirement.to_s }
      end
    end

    def files
      each_file.sort.map { |name, body| { "type" => "file", "name" => name, "hashes" => hashes(body) } }
    end

    # The gem is a tar with a compressed tar of the files in it.
    def each_file
      found = []
      File.open(@path, "rb") do |io|
        Gem::Package::TarReader.new(io).seek("data.tar.gz") do |data|
          Zlib::GzipReader.wrap(data) do |gzip|
            Gem::Package::TarReader.new(gzip).each { |entry| found << [entry.full_name, entry.read.to_s] }
          end
        end
      end
      found
    end

    def hashes(bytes) = [{ "alg" => "SHA-256", "content" => Digest::SHA256.hexdigest(bytes) }]

    # Of version 8, made from the gem's bytes.
    def uuid
      digits = Digest::SHA256.hexdigest(File.binread(@path))
      digits[12] = "8"
      digits[16] = "8"
      digits[0, 32].unpack("a8a4a4a4a12").join("-")
    end
  end
end
