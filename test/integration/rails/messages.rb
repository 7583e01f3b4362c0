# frozen_string_literal: true

# What Rails writes as MessagePack: `write FOLDER` leaves it there, `read FOLDER` checks that it is what was written. Prints
# the library that it was done with.
require "active_support/all"
require "active_support/message_pack"

Time.zone = "Europe/Berlin"
COMMAND, FOLDER = ARGV
SECRET = "0" * 32
VALUE = {
  "rows" => Array.new(20) { |id| { "id" => id, "name" => "row #{id}", "price" => id / 4.0, "ok" => id.even?, "note" => nil } },
  keys: [:symbol, 1 << 70, BigDecimal("1.5"), 1/3r, 2i, DateTime.new(2026), Date.new(2026), Time.at(5, 7, :nsec, in: "+02:00")],
  rails: [Time.zone.local(2026, 1, 31, 12), ActiveSupport::TimeZone["Hawaii"], 3.days + 2.hours],
  classes: [1..5, Set["a"], URI("http://example.com"), IPAddr.new("10.0.0.0/8"), Pathname("/tmp"), { a: 1 }.with_indifferent_access]
}.freeze

VERIFIER = ActiveSupport::MessageVerifier.new(SECRET, serializer: :message_pack)
ENCRYPTOR = ActiveSupport::MessageEncryptor.new(SECRET, serializer: :message_pack)
FALLBACK = ActiveSupport::MessageVerifier.new(SECRET, serializer: :message_pack_allow_marshal)
CACHES = {
  **(ENV["REDIS_URL"] ? { "redis" => ActiveSupport::Cache::RedisCacheStore.new(serializer: :message_pack) } : {}),
  "plain" => ActiveSupport::Cache::FileStore.new("#{FOLDER}/plain", serializer: :message_pack),
  "compressed" => ActiveSupport::Cache::FileStore.new("#{FOLDER}/compressed", serializer: :message_pack, compress_threshold: 1)
}.freeze

def file(name)
  "#{FOLDER}/#{name}"
end

def write
  File.binwrite(file("value"), ActiveSupport::MessagePack.dump(VALUE))
  File.binwrite(file("signed"), VERIFIER.generate(VALUE, purpose: "login", expires_in: 1.hour))
  File.binwrite(file("fallback"), FALLBACK.generate(VALUE))
  File.binwrite(file("encrypted"), ENCRYPTOR.encrypt_and_sign(VALUE, purpose: "login"))
  CACHES.each_value { |cache| cache.write_multi({ "key" => VALUE, "nil" => nil, "old" => 1 }, expires_in: 1.hour, version: 7) }
end

def read
  check "value", ActiveSupport::MessagePack.load(File.binread(file("value")))
  check "bytes", ActiveSupport::MessagePack.dump(VALUE), File.binread(file("value"))
  check "signed", VERIFIER.verify(File.binread(file("signed")), purpose: "login")
  check "another purpose", VERIFIER.verified(File.binread(file("signed")), purpose: "logout"), nil
  check "tampered", VERIFIER.verified(File.binread(file("signed")).tap { |text| text[5] = text[5] == "a" ? "b" : "a" }), nil
  check "fallback", FALLBACK.verify(File.binread(file("fallback")))
  check "encrypted", ENCRYPTOR.decrypt_and_verify(File.binread(file("encrypted")), purpose: "login")
  check_rotation
  check_memory
  CACHES.each do |name, cache|
    check name, cache.read("key", version: 7)
    check "#{name} of another version", cache.read("key", version: 8), nil
    check "#{name} with nil", cache.fetch("nil") { :missing }, nil
  end
end

# Another process cannot read it.
def check_memory
  cache = ActiveSupport::Cache::MemoryStore.new(serializer: :message_pack)
  cache.write("key", VALUE, expires_in: 1.hour, version: 7)
  check "memory", cache.read("key", version: 7)
  check "memory of another version", cache.read("key", version: 8), nil
end

# The secret was replaced after the message was signed.
def check_rotation
  verifier = ActiveSupport::MessageVerifier.new("1" * 32, serializer: :message_pack)
  verifier.rotate(SECRET)
  check "rotated", verifier.verify(File.binread(file("signed")), purpose: "login")
end

def check(name, actual, expected = VALUE)
  abort "#{name}: #{actual.inspect}\nis not\n#{expected.inspect}" unless actual == expected && actual.class == expected.class
end

send(COMMAND)
puts defined?(Manypack) ? "Manypack::Factory" : "MessagePack::Factory"
