# frozen_string_literal: true

# Documents of other programs: GeoJSON, 3D models, pictures, integers, rows of a table.

module Payloads
  # GeoJSON as a map of districts: closed rings of longitude and latitude.
  class Geo
    KINDS = %w[forest lake park district island].freeze

    def initialize(random)
      @random = random
    end

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

  # A bumpy torus, as 3D programs export a mesh: flat arrays, three numbers a vertex and three indices a face.
  class Model
    # rings:: each of twice as many vertices
    def initialize(random, rings)
      @random = random
      @rings = rings
      @sides = rings * 2
    end

    def build
      {
        "metadata" => { "formatVersion" => 3.1, "generatedBy" => "exporter", "vertices" => @rings * @sides,
                        "materials" => 4 },
        "scale" => 1.0, "materials" => Array.new(4) { |index| material(index) },
        "vertices" => angles.flat_map { |around, across| vertex(around, across) },
        "normals" => angles.flat_map { |around, across| normal(around, across) },
        "faces" => faces
      }
    end

    private

    def material(index)
      {
        "DbgName" => "material_#{index}", "shading" => "Phong", "colorDiffuse" => Array.new(3) { @random.rand },
        "colorSpecular" => Array.new(3) { @random.rand }, "specularCoef" => @random.rand(100), "transparency" => 1.0,
        "vertexColors" => false, "mapDiffuse" => "texture_#{index}.jpg"
      }
    end

    def angles
      @rings.times.flat_map do |ring|
        @sides.times.map { |side| [2 * Math::PI * ring / @rings, 2 * Math::PI * side / @sides] }
      end
    end

    def vertex(around, across)
      tube = 0.3 + @random.rand(0.02)
      radius = 1 + tube * Math.cos(across)
      [radius * Math.cos(around), radius * Math.sin(around), tube * Math.sin(across)]
    end

    def normal(around, across)
      [Math.cos(across) * Math.cos(around), Math.cos(across) * Math.sin(around), Math.sin(across)]
    end

    def faces
      @rings.times.flat_map { |ring| @sides.times.flat_map { |side| quad(ring, side) } }
    end

    # Two triangles.
    def quad(ring, side)
      here, beside = index(ring, side), index(ring, side + 1)
      across, beyond = index(ring + 1, side), index(ring + 1, side + 1)
      [here, beside, across, beside, beyond, across]
    end

    def index(ring, side)
      ring % @rings * @sides + side % @sides
    end
  end

  # A picture as a service stores it: bytes that do not compress, described by a few small fields.
  module Image
    # bytes:: the size of the picture
    def self.build(random, bytes)
      {
        "id" => random.rand(1 << 40), "name" => "IMG_#{random.rand(10_000)}.jpg", "content_type" => "image/jpeg",
        "width" => 640, "height" => 480, "taken_at" => 1_344_900_000 + random.rand(1_000_000),
        "exposure" => 0.008, "tags" => %w[garden rain 桜], "public" => true, "data" => random.bytes(bytes)
      }
    end
  end

  # Integers of every width. The widths are mixed in one array and alone in others, because a branch that is always
  # taken costs nothing.
  module Integers
    WIDTHS = {
      "fixint" => -32..127, "int8" => -128..255, "int16" => -(1 << 15)..(1 << 16) - 1,
      "int32" => -(1 << 31)..(1 << 32) - 1, "int64" => -(1 << 63)..(1 << 64) - 1
    }.freeze

    def self.build(random, count)
      alone = WIDTHS.transform_values { |range| Array.new(count) { random.rand(range) } }
      mixed = Array.new(count) { random.rand(WIDTHS.values[random.rand(WIDTHS.size)]) }
      { **alone, "mixed" => mixed }
    end
  end

  # Maps of about a hundred packed bytes with the same keys: as many as a size needs.
  module Rows
    BYTES = 100
    WORDS = %w[river mountain harbour meadow orchard village lantern window garden kettle].freeze

    # bytes:: about as many as the packed document has
    def self.build(random, bytes)
      return { "id" => 200, "ok" => true } if bytes < BYTES

      bytes == BYTES ? row(random) : Array.new(bytes / BYTES) { row(random) }
    end

    def self.row(random)
      {
        "id" => random.rand(1 << 31), "name" => words(random, 2), "price" => random.rand(10_000) / 8.0,
        "ok" => random.rand(2).zero?, "tags" => [words(random, 1), words(random, 1)], "note" => words(random, 4)
      }
    end
    private_class_method :row

    def self.words(random, count)
      Array.new(count) { WORDS.sample(random: random) }.join(" ")
    end
  end

  # A part of a document that a program wants without the rest.
  Look = Struct.new(:task, :document) do
    # Returns what is to be found, from the document itself.
    def answer
      self.class::TASKS.fetch(task).call(document)
    end

    # Returns whether a contender has found the answer.
    def same?(found) = found == answer
  end

  # Of a page of tweets.
  Look::OF_TWITTER = {
    "a scalar near the start" => ->(page) { page.dig("statuses", 0, "created_at") },
    "a scalar near the end" => ->(page) { page.dig("search_metadata", "count") },
    "three scalars" => lambda do |page|
      [page.dig("statuses", 50, "id"), page.dig("statuses", 99, "user", "name"), page.dig("search_metadata", "count")]
    end,
    "100 names by path" => ->(page) { page["statuses"].map { |status| status["user"]["screen_name"] } },
    "100 names by each and dig" => ->(page) { page["statuses"].map { |status| status.dig("user", "screen_name") } },
    "100 names by index" => lambda do |page|
      statuses = page["statuses"]
      Array.new(statuses.size) { |i| statuses[i]["user"]["screen_name"] }
    end,
    "four [] again" => ->(page) { page["statuses"][50]["user"]["screen_name"] },
    "filter and pass on" => ->(page) { page["statuses"].select { |status| status["lang"] == "ja" } },
    "change one field" => ->(page) { page.merge("search_metadata" => page["search_metadata"].merge("count" => 1)) },
    "check all of it" => ->(page) { page.size }
  }.freeze

  # Of documents that have no look-alike: by the name of the document, a name and what it is.
  Look::OF_REAL = {
    "canada" => ["a coordinate near the end",
                 ->(canada) { canada.dig("features", 0, "geometry", "coordinates", -1, -1, 0) }],
    "citm_catalog" => ["all prices", lambda do |citm|
      citm["performances"].flat_map { |one| one["prices"].map { |price| price["amount"] } }
    end]
  }.freeze

  # Of a map of districts.
  Look::OF_GEO = { "points checked" => ->(map) { map.size } }.freeze

  Look::TASKS = Look::OF_TWITTER.merge(Look::OF_GEO, Look::OF_REAL.values.to_h).freeze
  Look::AGAIN = "four [] again" # in a document that is unpacked, or opened, once for all
  Look::PACKED = ["filter and pass on", "change one field"].freeze # answers that are packed, to be sent
end
