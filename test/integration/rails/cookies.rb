# frozen_string_literal: true

# Cookies of a Rails application as MessagePack: `write FOLDER` leaves there what a response sets, `read FOLDER` sends it
# back in a request and checks what the application sees. Prints the library that it was done with.
require "action_controller/railtie"
require "active_support/message_pack"
require "rack/test"
require "stringio"

COMMAND, FOLDER = ARGV
VALUE = {
  "id" => 1 << 70, symbol: :value, "at" => Time.at(5, 7, :nsec, in: "+02:00"), "on" => Date.new(2026), "price" => BigDecimal("1.5")
}.freeze
SECRETS = { "old" => "0" * 64, "new" => "1" * 64 }.freeze

class CookieApplication < Rails::Application
  config.root = FOLDER
  config.eager_load = false
  config.logger = Logger.new(IO::NULL)
  config.hosts.clear
  config.load_defaults 7.1
  config.consider_all_requests_local = false
  config.action_dispatch.show_exceptions = :none
  config.action_dispatch.cookies_serializer = :message_pack
  config.session_store :cookie_store, key: "session"
  config.secret_key_base = SECRETS.fetch(ENV.fetch("SECRET", "old"))

  # Cookies that were written with the old secret are read, and written anew with the new one.
  config.action_dispatch.cookies_rotations.tap do |rotations|
    keys = ActiveSupport::KeyGenerator.new(SECRETS["old"], iterations: 1000, hash_digest_class: OpenSSL::Digest::SHA256)
    signed, encrypted = config.action_dispatch.values_at(:signed_cookie_salt, :authenticated_encrypted_cookie_salt)
    rotations.rotate :signed, keys.generate_key(signed)
    rotations.rotate :encrypted, keys.generate_key(encrypted, ActiveSupport::MessageEncryptor.key_len("aes-256-gcm"))
  end
end

class CookiesController < ActionController::Base
  def write
    cookies.signed[:signed] = { value: VALUE, expires: 1.hour }
    cookies.encrypted[:encrypted] = { value: VALUE }
    cookies.permanent.signed[:permanent] = { value: VALUE }
    session[:value] = VALUE
    head :no_content
  end

  def read
    seen = [cookies.signed[:signed], cookies.encrypted[:encrypted], cookies.signed[:permanent], session[:value]]
    render plain: seen.all?(VALUE) ? "the same" : seen.inspect
  end

  def tampered
    render plain: [cookies.signed[:signed], cookies.encrypted[:encrypted]].inspect
  end

  def overflow
    cookies.signed[:large] = "a" * 4_096
    head :no_content
  end
end

CookieApplication.initialize!
CookieApplication.routes.draw { %w[write read tampered overflow].each { |action| get action, to: "cookies##{action}" } }

# The requests of somebody who keeps cookies in a file.
class Browser
  include Rack::Test::Methods

  def app
    CookieApplication
  end

  def write
    get "/write"
    File.binwrite("#{FOLDER}/cookies", Array(last_response.headers["set-cookie"]).join("\n"))
  end

  def read
    send_cookies { |line| line }
    check "/read", "the same"
    clear_cookies
    send_cookies { |line| line.sub(/(?<==.{6})./) { |letter| letter == "a" ? "b" : "a" } }
    check "/tampered", "[nil, nil]"
    check "/overflow", "ActionDispatch::Cookies::CookieOverflow"
  end

  private

  def send_cookies(&change)
    File.readlines("#{FOLDER}/cookies", chomp: true).map(&change).each { |line| set_cookie(line) }
  end

  def check(path, expected)
    get path
    abort "#{path}: #{last_response.body}" unless last_response.body == expected
  rescue ActionDispatch::Cookies::CookieOverflow => error
    abort "#{path}: #{error.message}" unless error.class.name == expected
  end
end

Browser.new.public_send(COMMAND)
puts defined?(Manypack) ? "Manypack::Factory" : "MessagePack::Factory"
