# frozen_string_literal: true

# A bumpy torus, as 3D programs export a mesh: flat arrays, three numbers a vertex and three indices a face.
module Payloads
  class Model
    # @param random [Random]
    # @param rings [Integer] each of twice as many vertices
    def initialize(random, rings)
      @random = random
      @rings = rings
      @sides = rings * 2
    end

    # @return [Hash]
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
end
