# frozen_string_literal: true

# Makes every order of the example take a while, so that its consumer can be killed in the middle of a batch.
$stdout.define_singleton_method(:puts) do |*lines|
  sleep 0.02
  super(*lines)
end
