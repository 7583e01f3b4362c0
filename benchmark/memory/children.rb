# frozen_string_literal: true

# Starts processes of child.rb.

require "open3"
require "rbconfig"
require_relative "peers"

module Children
  CHILD = File.expand_path("child.rb", __dir__)
  LIB = File.expand_path("../../lib", __dir__)

  # Failed or died.
  class Failed < StandardError
  end

  module_function

  # @param measurement [String]
  # @param peer [Module] of Peers
  # @param environment [Hash{String => String}]
  # @param arguments [Hash{Symbol => Object}] for the measurement
  # @return [Object] what came of it
  def run(measurement, peer, environment: {}, **arguments)
    input = Marshal.dump(arguments)
    output, status = Open3.capture2(environment, *command(measurement, peer), stdin_data: input, binmode: true)
    raise Failed, "#{measurement} of #{peer.label}: #{status}" unless status.success?

    Marshal.load(output)
  end

  # @api private
  def command(measurement, peer)
    [RbConfig.ruby, "-W0", *yjit, "-I#{LIB}", CHILD, measurement, peer.name.split("::").last]
  end

  # @return [Array<String>] the flag, where this Ruby has YJIT
  def yjit
    @yjit ||= begin
      _, status = Open3.capture2e(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?")
      status.success? ? ["--yjit"] : []
    end
  end
end
