# frozen_string_literal: true

# Makefile of callgrind.c, which needs Valgrind's headers (Debian: valgrind).
require "mkmf"

abort "valgrind/callgrind.h is missing" unless have_header("valgrind/callgrind.h")
create_makefile("callgrind")
