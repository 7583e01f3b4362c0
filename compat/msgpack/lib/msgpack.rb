# frozen_string_literal: true

# Loads Manypack as MessagePack, even if the load path has only this gem, as with bootsnap.
paths = (Gem.loaded_specs["manypack"]&.full_require_paths || []) - $LOAD_PATH
begin
  $LOAD_PATH.unshift(*paths)
  require "manypack/drop_in"
ensure
  paths.each { |path| $LOAD_PATH.delete(path) }
end
