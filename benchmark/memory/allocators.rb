# frozen_string_literal: true

# The mallocs that a process may run with, as environments.
module Allocators
  JEMALLOC = Dir["/usr/lib/*/libjemalloc.so.2", "/usr/lib*/libjemalloc.so.2"].first

  # @return [Hash{String => Hash{String => String}}] by name; without jemalloc only what is there
  def self.all
    return { "glibc" => {} } unless JEMALLOC

    { "glibc" => {}, "jemalloc, decay 10 s" => jemalloc(10_000), "jemalloc, decay 1 s" => jemalloc(1_000) }
  end

  # @api private
  def self.jemalloc(dirty_decay_ms)
    { "LD_PRELOAD" => JEMALLOC, "MALLOC_CONF" => "dirty_decay_ms:#{dirty_decay_ms}" }
  end
end
