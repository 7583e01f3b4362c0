# frozen_string_literal: true

# A Rails application in one file, whose controllers answer with MessagePack.
require "action_controller/railtie"
require "manypack/rails"

# A middleware that reads the body of some requests first.
class EarlyReader
  def initialize(app)
    @app = app
  end

  def call(env)
    request = ActionDispatch::Request.new(env)
    request.path == "/early" ? [200, {}, [request.params.except("controller", "action").to_s]] : @app.call(env)
  end
end

# In place of what Rails shows errors with, as gems for such pages do it.
class OwnErrorPages < ActionDispatch::DebugExceptions; end

class ApplicationOfTests < Rails::Application
  LOG = StringIO.new

  config.root = __dir__
  config.eager_load = false
  config.secret_key_base = "0" * 64
  config.logger = Logger.new(LOG)
  config.hosts.clear
  config.consider_all_requests_local = false
  config.middleware.use EarlyReader
  config.middleware.swap ActionDispatch::DebugExceptions, OwnErrorPages
  config.cache_store = :memory_store, { coder: Manypack::ActiveSupport::CacheCoder.new }
end

# What it was asked with, and what there is to render.
class EchoController < ActionController::API
  def create
    render msgpack: { "params" => params.to_unsafe_h.except("controller", "action"), "classes" => classes }
  end

  # A body is not read unless somebody asks for it.
  def ignore
    render msgpack: "\xC3".b
  end

  def show
    render msgpack: "\x91\x01".b, status: :accepted, **params.permit(:content_type).to_h.symbolize_keys
  end

  # Bytes that are packed already, alone and in an object.
  def packed
    view = Manypack::View.new("\x81\xA2id\x07".b)
    return render(json: view) if params[:format]
    return render(msgpack: view.bytes) if params[:bytes]

    render msgpack: params[:in] ? { params[:in] => [view] } : view
  end

  def fail
    render msgpack: { "user" => Object.new }
  end

  # An error of the program, not of the request.
  def unpack
    Manypack.unpack("\xC1")
  end

  def cached
    render msgpack: Rails.cache.fetch("key") { { at: Time.utc(2026), count: 1 } }.then { |entry| [entry[:count], entry.keys.to_s] }
  end

  private

  def classes
    params.to_unsafe_h.values.map { |value| value.class.name }
  end
end

# As Base answers, which an application inherits from if people look at it, too.
class PagesController < ActionController::Base
  skip_forgery_protection

  def show
    respond_to do |format|
      format.json { render json: { "a" => 1 } }
      format.msgpack { render msgpack: { "a" => 1 } }
    end
  end

  def create
    render msgpack: params[:id]
  end
end

# Which rescues what Rails raises itself.
class OwnAnswersController < ActionController::API
  rescue_from(Manypack::Rails::InvalidBody) { |error| render plain: "own: #{error.offset}", status: error.status }

  def create
    render msgpack: params[:id]
  end
end

ApplicationOfTests.initialize!
ApplicationOfTests.routes.draw do
  post "echo", to: "echo#create"
  post "ignore", to: "echo#ignore"
  get "show", to: "echo#show"
  get "packed", to: "echo#packed"
  get "fail", to: "echo#fail"
  get "unpack", to: "echo#unpack"
  get "cached", to: "echo#cached"
  get "page", to: "pages#show"
  post "page", to: "pages#create"
  match "constrained", to: "echo#ignore", via: %i[post head], constraints: ->(request) { request.params.key?("id") }
  post "own", to: "own_answers#create"
end
