# frozen_string_literal: true

# Each of the 29 requirements to a decoder of hostile input has its test, and SECURITY.md says which.
require_relative "attacks"
# Not every_malloc_test.rb, which rake test:faults has alone: Ruby itself does not survive each allocation that fails.
(Dir[File.join(__dir__, "*_test.rb")] - [__FILE__, File.join(__dir__, "every_malloc_test.rb")]).each { |path| require path }

module Hostile
  class RequirementsTest < Minitest::Test
    def test_there_is_a_test_for_each_of_the_29_requirements
      assert_equal (1..29).to_a, numbered_tests.map { |name| name[/\d+/].to_i }.uniq.sort
    end

    def test_security_md_names_a_test_for_each_of_them
      rows = File.readlines(File.join(Attacks::ROOT, "SECURITY.md")).filter_map { |line| line[/\A\| (\d+) \|.*\b(\w+_test\.rb)/] && [$1.to_i, $2] }
      assert_equal (1..29).to_a, rows.map(&:first)
      rows.each do |number, file|
        assert_match(/def test_#{format("%02d", number)}_|define_method\("test_#{format("%02d", number)}_/, File.read(File.join(__dir__, file)))
      end
    end

    private

    def numbered_tests
      Hostile.constants.map { |name| Hostile.const_get(name) }.grep(Class).select { |found| found < Minitest::Test }
             .flat_map { |found| found.public_instance_methods(false) }.grep(/\Atest_\d\d_/)
    end
  end
end
