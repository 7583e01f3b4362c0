# frozen_string_literal: true

# Checks that no Ractor is left. On Ruby 4, a Ractor still counts for a moment after Ractor#join.
module NoRactors
  def assert_no_ractors(message = nil)
    100.times { Ractor.count > 1 ? sleep(0.01) : break }
    assert_equal 1, Ractor.count, message
  end
end
