# frozen_string_literal: true

# Builds ext/manypack together with the C sources of core/ into one shared object.
#   --enable-werror       warnings are errors, and the assertions of Ruby's headers are on
#   --enable-sanitizers   AddressSanitizer and UndefinedBehaviorSanitizer
#   --enable-canaries     spare and freed memory is 0xc1, which test/hostile/canary_test.rb looks for in all output

require "mkmf"

core = File.expand_path("../../core", __dir__)

# What differs between Rubies; compat.h turns each into one name, with the version that brought it.
have_func("rb_proc_isolate")                          # Ruby >= 3.0; exported, but in no header
have_func("rb_hash_new_capa", "ruby.h")               # Ruby >= 3.2
have_const("RUBY_TYPED_EMBEDDABLE", "ruby.h")         # Ruby >= 3.3
have_const("RUBY_TYPED_THREAD_SAFE_FREE", "ruby.h")   # Ruby >= 4.1
have_func("rb_obj_set_shareable", "ruby/ractor.h")    # Ruby >= 4.1; 4.0 declares it and does not export it

$srcs = Dir["#{__dir__}/*.c", "#{core}/*.c"].map { |path| File.basename(path) }
$VPATH << "#{core}"
$INCFLAGS << " -I#{core}"
append_cflags(["-O3", "-fvisibility=hidden"])

if enable_config("werror", false)
  append_cflags(%w[-Wall -Wextra -Werror -Wno-unused-parameter -DRUBY_DEBUG=1])
end
if enable_config("sanitizers", false)
  # Ruby leaves C frames by __builtin_longjmp, which AddressSanitizer does not see: the red zones that it lays on the
  # stack would stay and be reported later, in Ruby's own frames. Canaries and UBSan's bounds watch the stack instead.
  flags = "-fsanitize=address,undefined --param asan-stack=0 -fstack-protector-all -fno-omit-frame-pointer -g"
  $CFLAGS << " #{flags}"
  $LDFLAGS << " #{flags}"
end
$CFLAGS << " -DMP_CANARIES=1" if enable_config("canaries", false)

create_makefile("manypack/manypack")
# mkmf knows of the headers beside this file alone.
File.write("Makefile", "$(OBJS): #{Dir["#{core}/*.h"].join(" ")}\n", mode: "a")
