# frozen_string_literal: true

# Each of the 29 requirements to a decoder of hostile input has its test, and SECURITY.md says which.
require "test_helper"
require_relative "attacks"

module Hostile
  class RequirementsTest < Minitest::Test
    TESTS = Dir[File.join(__dir__, "*_test.rb")].to_h { |path| [File.basename(path), File.read(path, encoding: "UTF-8")] }

    def test_there_is_a_test_for_each_of_the_29_requirements
      assert_equal (1..29).to_a, TESTS.values.flat_map { |text| text.scan(/def test_(\d\d)_|define_method\("test_(\d\d)_/) }.flatten.compact.map(&:to_i).uniq.sort
    end

    def test_security_md_names_a_test_for_each_of_them
      rows = File.readlines(File.join(Attacks::ROOT, "SECURITY.md")).filter_map { |line| line[/\A\| (\d+) \|.*\b(\w+_test\.rb)/] && [$1.to_i, $2] }
      assert_equal (1..29).to_a, rows.map(&:first)
      rows.each { |number, file| assert_match(/def test_#{format("%02d", number)}_|define_method\("test_#{format("%02d", number)}_/, TESTS.fetch(file)) }
    end
  end
end
