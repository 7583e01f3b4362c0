# frozen_string_literal: true

# Makefile of the floor; see floor.c.
require "mkmf"

$defs << "'-Drb_hash_new_capa(n)=rb_hash_new()'" unless have_func("rb_hash_new_capa") # Ruby 3.2
$INCFLAGS << " -I#{File.expand_path("../../core", __dir__)}"
append_cflags(%w[-O3 -std=gnu99 -Wall -Wextra -Wno-unused-parameter])
create_makefile("floor")
