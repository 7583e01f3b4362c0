# frozen_string_literal: true

# Whether the extension can mark an object as shareable. Where it cannot, it calls Ractor.make_shareable for each object,
# which allocates.
require "open3"
require "rbconfig"

module ShareableMark
  # Since Ruby 4.1, whose headers have RUBY_TYPED_THREAD_SAFE_FREE, the mark takes a function, which the headers declare
  # even if Ruby hides it from extensions. Before that, the mark is a bit of the object. It runs outside of the bundle,
  # because fiddle is a gem on newer Rubies.
  PROBE = <<~'RUBY'
    require "fiddle"
    paths = %w[ractor internal/core/rtypeddata].map { |name| "#{RbConfig::CONFIG["rubyhdrdir"]}/ruby/#{name}.h" }
    headers = paths.map { |path| File.read(path) }.join
    function = headers.include?("RUBY_TYPED_THREAD_SAFE_FREE") && headers[/\brb_obj_set_shareable(?=\()/]
    exit !function || !!Fiddle::Handle::DEFAULT.sym_defined?(function)
  RUBY

  module_function

  # Also true where Ruby has no fiddle to find out.
  def possible?
    return @possible if defined?(@possible)

    output, status = Open3.capture2e({ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "-W0", "-e", PROBE)
    @possible = status.success? || output.include?("LoadError")
  end
end
