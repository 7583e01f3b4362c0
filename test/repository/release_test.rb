# frozen_string_literal: true

# What keeps a bad release from being published: checks that say why, the list of files, and the bill of materials.
require "test_helper"
require "json"
require "support/program"
require "tmpdir"
require_relative "../../tools/release/agreement"
require_relative "../../tools/release/contents"
require_relative "../../tools/release/sbom"

class ReleaseTest < Minitest::Test
  include ProgramHelper

  AGREED = { version: "1.2.3", changelog: "# Changelog\n\n## 1.2.3 - 2026-02-28\n\n## 1.2.2 - 2026-01-01\n",
             manual: %(.TH MANYPACK 1 "" "manypack 1.2.3" "User Commands"\n), tags: %w[v1.2.3], changes: [],
             today: Date.new(2026, 3, 1) }.freeze

  def test_a_release_about_which_all_agree_can_be_published
    assert_empty complaints
  end

  def test_a_changelog_must_begin_with_the_version
    assert_equal ['CHANGELOG.md begins with "## Unreleased", not with "## 1.2.3 - YYYY-MM-DD".'],
                 complaints(changelog: "## Unreleased\n\n## 1.2.3 - 2026-02-28\n")
    assert_equal ['CHANGELOG.md begins with "## ", not with "## 1.2.3 - YYYY-MM-DD".'], complaints(changelog: "")
  end

  def test_a_changelog_must_have_a_date
    ["1.2.3", "1.2.3 - soon", "1.2.3 - 2026-02-30", "1.2.3 - 2026-2-3"].each do |heading|
      assert_match(/\ACHANGELOG.md dates 1.2.3 ".*", which is no date/, complaints(changelog: "## #{heading}\n").first)
    end
    assert_equal ["CHANGELOG.md dates 1.2.3 2026-03-02, which is in the future."],
                 complaints(changelog: "## 1.2.3 - 2026-03-02\n")
  end

  def test_a_manual_must_be_of_the_version
    assert_equal ["man/manypack.1 is not of version 1.2.3; run rake man."],
                 complaints(manual: %(.TH MANYPACK 1 "" "manypack 1.2.30" "User Commands"\n))
  end

  def test_a_commit_must_have_the_tag_of_the_version
    assert_equal ["HEAD has no tag v1.2.3; it has v1.2.2."], complaints(tags: %w[v1.2.2])
    assert_equal ["HEAD has no tag v1.2.3."], complaints(tags: [])
  end

  def test_everything_must_be_committed
    assert_equal ["These files are not committed: a, b."], complaints(changes: %w[a b])
  end

  def test_all_complaints_come_at_once
    assert_equal 4, complaints(version: "1.2.4", changes: ["a"]).size
  end

  def test_a_gem_holds_what_the_list_names
    with_gem do |gem|
      assert_empty contents(gem, "LICENSE", "lib/manypack.rb")
      assert_equal ["it-1.gem has files that are not on the list: LICENSE."], contents(gem, "lib/manypack.rb")
      assert_equal ["it-1.gem lacks files of the list: b."], contents(gem, "LICENSE", "b", "lib/manypack.rb")
    end
  end

  def test_users_get_what_is_in_their_folders
    ours = %w[benchmark/bench.rb core/fuzz/fuzz.c core/test.mk docs/performance/notes.txt test/test_helper.rb]
    theirs = %w[LICENSE core/wire.h docs/performance/results.json docs/views.md ext/manypack/init.c
                ext/manypack/view/view.c lib/manypack.rb lib/manypack/view.rb]
    assert_equal theirs, Release::Contents.shipped(ours + theirs)
  end

  def test_a_precompiled_gem_adds_extensions_alone
    with_gem("lib/manypack/3.4/manypack.so") { |gem| assert_empty contents(gem, "LICENSE", "lib/manypack.rb") }
    with_gem("lib/manypack/manypack.so") { |gem| refute_empty contents(gem, "LICENSE", "lib/manypack.rb") }
  end

  # As in a precompiled gem, which has no other.
  def test_the_extension_of_this_ruby_is_loaded_if_there_is_one_for_each
    Dir.mktmpdir do |folder|
      FileUtils.cp_r(ProgramHelper::LIB, folder)
      compiled = Dir["#{folder}/lib/manypack/manypack.*"].first
      native = "#{folder}/lib/manypack/#{RUBY_VERSION[/\d+\.\d+/]}/#{File.basename(compiled)}"
      FileUtils.mkdir(File.dirname(native))
      FileUtils.mv(compiled, native)
      program = 'print Manypack.unpack("\xa1a"), $LOADED_FEATURES.grep(%r{/manypack\.(so|bundle)\z})'
      without_bundler = { "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLER_SETUP" => nil }
      output = output_of(without_bundler, RbConfig.ruby, "-I#{folder}/lib", "-rmanypack", "-e", program)
      assert_equal "a#{[File.realpath(native)]}", output
    end
  end

  def test_a_bill_of_materials_has_the_fields_that_cyclonedx_requires
    with_gem do |gem|
      bill = JSON.parse(File.read(Release::Sbom.new(gem).write))
      assert_equal ["CycloneDX", "1.6", 1], bill.values_at("bomFormat", "specVersion", "version")
      assert_match(/\Aurn:uuid:\h{8}-\h{4}-8\h{3}-8\h{3}-\h{12}\z/, bill["serialNumber"])
      assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/, bill["metadata"]["timestamp"])
      bill["components"].each { |one| assert_equal %w[type name], one.keys & %w[type name] }
    end
  end

  def test_a_bill_of_materials_names_the_gem_its_files_and_its_dependencies
    with_gem do |gem|
      bill = Release::Sbom.new(gem).to_h
      component = bill["metadata"]["component"]
      assert_equal ["it", "1", "pkg:gem/it@1"], component.values_at("name", "version", "purl")
      assert_equal [{ "license" => { "id" => "MIT" } }], component["licenses"]
      assert_equal Digest::SHA256.file(gem).hexdigest, component["hashes"][0]["content"]
      files = bill["components"].select { |one| one["type"] == "file" }
      assert_equal %w[LICENSE lib/manypack.rb], files.map { |file| file["name"] }
      assert_equal Digest::SHA256.hexdigest("of lib/manypack.rb"), files.last["hashes"][0]["content"]
      assert_equal [{ "ref" => "pkg:gem/it@1", "dependsOn" => ["pkg:gem/other"] }], bill["dependencies"]
    end
  end

  # A name or a tag of an action can be given to other code later, a commit cannot.
  def test_the_workflow_runs_no_code_that_can_be_exchanged
    actions = workflow.scan(/uses: (.*)/).flatten
    assert_operator actions.size, :>, 2
    assert_empty actions.grep_v(%r{\A[\w-]+/[\w-]+@\h{40} # v[\d.]+\z})
  end

  def test_the_workflow_stops_where_a_step_fails
    assert_includes workflow, "shell: bash -euo pipefail {0}\n"
    refute_match(/continue-on-error|if: .*(always|failure)\(|\|\| (true|:)|set \+e/, workflow)
    order = ["release:check", "gem:native", "needs: build", "sigstore-cli sign", "sigstore-cli verify", "gem push"]
    assert_equal order.sort_by { |step| workflow.index(step) }, order
  end

  private

  def workflow = File.read(File.expand_path("../../.github/workflows/release.yml", __dir__), encoding: "UTF-8")

  def complaints(**changed) = Release::Agreement.new(**AGREED, **changed).complaints

  def contents(gem, *listed) = Release::Contents.new(gem, listed: listed).complaints

  # A gem of two files and more.
  def with_gem(*more)
    files = ["LICENSE", "lib/manypack.rb", *more]
    Dir.mktmpdir do |folder|
      files.each do |name|
        FileUtils.mkdir_p(File.dirname(File.join(folder, name)))
        File.write(File.join(folder, name), "of #{name}")
      end
      path = File.join(folder, "it-1.gem")
      quietly { Dir.chdir(folder) { Gem::Package.build(specification(files), true, false, path) } }
      yield path
    end
  end

  def quietly(&block) = Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new, &block)

  def specification(files)
    Gem::Specification.new("it", "1") do |spec|
      spec.summary = "A gem to look at"
      spec.authors = ["Nobody"]
      spec.license = "MIT"
      spec.homepage = "https://example.com"
      spec.files = files
      spec.add_dependency "other", "~> 1.0"
    end
  end
end
