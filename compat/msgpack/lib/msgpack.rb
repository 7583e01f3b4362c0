# frozen_string_literal: true

# Loads Manypack as MessagePack, also for who has narrowed the load path to this gem alone, as bootsnap does.
paths = (Gem.loaded_specs["manypack"]&.full_require_paths || []) - $LOAD_PATH
begin
  $LOAD_PATH.unshift(*paths)
  require "manypack/drop_in"
ensure
  paths.each { |path| $LOAD_PATH.delete(path) }
end
