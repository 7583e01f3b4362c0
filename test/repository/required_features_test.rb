# frozen_string_literal: true

# Which libraries the repository requires: newer Rubies include fewer. The gem needs only libraries that every Ruby
# includes outside its bundled gems. All others are in a Gemfile, or an error says what to install.
require "test_helper"
require "support/program"
require "support/terminal"

class RequiredFeaturesTest < Minitest::Test
  include ProgramHelper

  ROOT, OUTSIDE = TerminalHelper::ROOT, TerminalHelper::OUTSIDE

  # Every Ruby from 3.1 on has these without a gem that can be missing.
  STANDARD = %w[English bundler cgi/escape coverage date delegate digest erb etc fileutils io/console io/wait ipaddr json mkmf net/http
                objspace open3 openssl optparse pathname pp pty rbconfig rbconfig/sizeof ripper rubygems/package set shellwords socket
                stringio strscan tempfile time timeout tmpdir uri yaml zlib].freeze

  # The gem of a feature, as the Gemfile of the bundle or of the integrations names it, unless it has the name of the
  # feature's first folder.
  GEMS = {
    "action_controller" => "actionpack", "active_job" => "activejob", "active_model" => "activerecord", "active_record" => "activerecord",
    "active_support" => "activesupport", "google" => "google-protobuf",
    "rack/test" => "rack-test", "rake/extensiontask" => "rake-compiler", "rdkafka" => "karafka-rdkafka"
  }.freeze

  # Files that work without a feature, and what they say if it is missing.
  RESCUED = {
    "csv" => { "lib/manypack/terminal/commands/pack.rb" => "gem install csv" },
    "fiddle" => { "fuzz/corpus.rb" => "gem install fiddle", "test/support/shareable_mark.rb" => "LoadError",
                  "tools/coverage/count.rb" => "gem install fiddle" },
    "irb" => { "bin/console" => "gem install irb" },
    "ruby-progressbar" => { "lib/manypack/terminal/output/progress.rb" => "rescue LoadError" }
  }.freeze

  FILES = Dir.glob("{Rakefile,README.md,docs/**/*.md,{bin,exe}/*,{benchmark,examples,ext,fuzz,lib,rakelib,test,tools}/**/*.{rb,rake,ru,sh}}", base: ROOT).freeze

  # Also in programs that are Strings, and after -r.
  REQUIRED = /(?:\brequire[ (]\s*\\?["']|(?<=\s)-r)([a-z][\w\/-]{2,})(?:\\?["']|(?=[\s"']))/i

  # By feature, the files that require it.
  FEATURES = FILES.each_with_object(Hash.new { |files, feature| files[feature] = [] }) do |path, files|
    text = File.read(File.join(ROOT, path), encoding: "UTF-8")
    text.scan(REQUIRED) { |(feature)| files[feature] |= [path] }
  end.freeze

  def test_whatever_is_required_is_there_on_every_ruby
    assert_operator FEATURES.size, :>, 60
    missing = FEATURES.reject do |feature, files|
      ours?(feature) || STANDARD.include?(feature) || in_a_gemfile?(feature) || (files - RESCUED.fetch(feature, {}).keys).empty?
    end
    assert_empty missing, "neither Ruby's in every version, nor in a Gemfile, nor rescued"
  end

  def test_files_that_work_without_a_feature_say_what_to_install
    RESCUED.each { |feature, files| files.each { |path, word| assert_includes read(path), word, "#{path}, which requires #{feature}" } }
  end

  def test_this_ruby_brings_what_every_ruby_brings
    assert_output_of_a_bare_ruby "", <<~RUBY
      #{STANDARD}.each do |feature|
        require feature
      rescue LoadError => error
        puts error.message
      end
    RUBY
  end

  # All files but the integrations, which are for those who have the library.
  def test_the_gem_needs_no_other
    assert_output_of_a_bare_ruby "ready", <<~'RUBY'
      require "manypack/drop_in"
      require "manypack/terminal"
      load_all = lambda do |namespace|
        namespace.constants(false).each do |name|
          constant = namespace.const_get(name)
          load_all.(constant) if constant.is_a?(Module) && constant.name&.start_with?("#{namespace.name}::")
        end
      end
      load_all.(Manypack)
      %w[CommonTypes Terminal].each { |name| load_all.(Manypack.const_get(name)) }
      print "ready"
    RUBY
  end

  private

  def ours?(feature)
    %w[. benchmark ext lib test].any? { |folder| File.file?(File.join(ROOT, folder, "#{feature}.rb")) } || feature == "manypack/manypack"
  end

  def in_a_gemfile?(feature)
    gem = GEMS.find { |start, _| feature == start || feature.start_with?("#{start}/") }&.last || feature[/[^\/]+/]
    %w[Gemfile test/integration/Gemfile].any? { |path| read(path).match?(/^\s*gem "#{gem}"/) }
  end

  # A Ruby that finds no gems but its default ones.
  def assert_output_of_a_bare_ruby(expected, program)
    Dir.mktmpdir do |home|
      bare = OUTSIDE.merge("RUBYOPT" => nil, "RUBYLIB" => nil, "GEM_HOME" => home, "GEM_PATH" => home)
      assert_equal expected, output_of(bare, RbConfig.ruby, "-w", "-W:no-experimental", "-I", LIB, "-e", program, chdir: home)
    end
  end

  def read(path) = File.read(File.join(ROOT, path), encoding: "UTF-8")
end
