# frozen_string_literal: true

# GeoJSON as a map of districts: closed rings of longitude and latitude.
module Payloads
  class Geo
    KINDS = %w[forest lake park district island].freeze

    # @param random [Random]
    def initialize(random)
      @random = random
    end

    # @param count [Integer] of features
    # @return [Hash]
    def collection(count)
      {
        "type" => "FeatureCollection",
        "crs" => { "type" => "name", "properties" => { "name" => "urn:ogc:def:crs:OGC:1.3:CRS84" } },
        "features" => Array.new(count) { |index| feature(index) }
      }
    end

    private

    def feature(index)
      center = [@random.rand(-170.0..170.0), @random.rand(-75.0..75.0)]
      {
        "type" => "Feature", "id" => index,
        "properties" => properties(index),
        "bbox" => [center[0] - 2, center[1] - 2, center[0] + 2, center[1] + 2],
        "geometry" => { "type" => "Polygon", "coordinates" => [ring(center)] }
      }
    end

    def properties(index)
      {
        "name" => "District #{index}", "kind" => KINDS[@random.rand(KINDS.size)],
        "population" => @random.rand(5_000_000), "area_km2" => @random.rand(20_000.0).round(3),
        "protected" => @random.rand(2) == 1, "note" => nil
      }
    end

    # Points around the center, the first one again at the end, with as many digits as surveys have.
    def ring(center)
      corners = 20 + @random.rand(120)
      points = Array.new(corners) do |corner|
        angle = 2 * Math::PI * corner / corners
        radius = @random.rand(0.5..2.0)
        [(center[0] + radius * Math.cos(angle)).round(15), (center[1] + radius * Math.sin(angle)).round(15)]
      end
      points << points.first.dup
    end
  end
end
