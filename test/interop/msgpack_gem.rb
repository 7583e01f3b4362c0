# frozen_string_literal: true

# Loads the msgpack gem beside Manypack. Both define Symbol#to_msgpack_ext, alike, of which Ruby would warn.
verbose, $VERBOSE = $VERBOSE, nil
require "msgpack"
$VERBOSE = verbose
