# frozen_string_literal: true

# Builds ext/manypack together with the C sources of core/ into one shared object.
#   --enable-werror       warnings are errors, and the assertions of Ruby's headers are on
#   --enable-sanitizers   AddressSanitizer and UndefinedBehaviorSanitizer
#   --enable-canaries     spare and freed memory is 0xc1, which test/hostile/canary_test.rb looks for in all output
#   --enable-coverage     gcov's counters, of code as it is written, not optimized: `rake coverage` reads them
#   --enable-reached      counts what each message reaches, so that fuzz/run.rb can go on from those that reach more
#   --disable-hash-templates   does without RHASH_TBL: each key of each Hash is hashed
#   --disable-shareable-flag   does without setting RUBY_FL_SHAREABLE: Ruby walks through what becomes shareable

require "mkmf"

root = File.expand_path("../..", __dir__)
folders = ["#{root}/core", *Dir["#{__dir__}/*/"].map { |path| path.chomp("/") }.sort]

# Differences between Rubies. compat.h gives each a single name.
have_func("rb_proc_isolate")                          # Ruby >= 3.0; exported, but in no header
have_func("rb_hash_new_capa", "ruby.h")               # Ruby >= 3.2
have_const("RUBY_TYPED_EMBEDDABLE", "ruby.h")         # Ruby >= 3.3
have_const("RUBY_TYPED_THREAD_SAFE_FREE", "ruby.h")   # Ruby >= 4.1
have_func("rb_obj_set_shareable", "ruby/ractor.h")    # Ruby >= 4.1

# have_func also finds functions that a static library of Ruby hides from extensions; a weak reference tells, when the
# extension is loaded, that a function is hidden. On Windows weak references find nothing, but there have_func is right.
WEAK_REFERENCE = <<~C
  #if !defined(__ELF__) && !defined(__MACH__)
  # error
  #endif
  __attribute__((weak)) int absent(void);
  int (*reference)(void) = absent;
C
weak = checking_for("weak references") { try_compile(WEAK_REFERENCE, "-Werror") }
$defs << "-DMP_WEAK_REFERENCES=1" if weak

# Two shortcuts past Ruby's functions. For each, compat.h also has a way without it, which is slower.
$defs << "-DMP_HASH_TEMPLATES=1" if enable_config("hash-templates", true) && have_macro("RHASH_TBL", "ruby.h")
have_const("RUBY_FL_SHAREABLE", "ruby.h") if enable_config("shareable-flag", true) # for Ruby < 4.1

# make finds sources by name, and all objects are in one folder. create_makefile refuses two sources with the same name.
$srcs = [__dir__, *folders].flat_map { |folder| Dir["#{folder}/*.c"] }.map { |path| File.basename(path) }
$VPATH.concat(folders)
$INCFLAGS << " -I#{root}" # for core; mkmf adds this folder, and includes name the folder of a header below
append_cflags(["-O3", "-fvisibility=hidden"])

if enable_config("werror", false)
  # Not by append_cflags, whose probes have an unused parameter. Order matters: for clang, the last flag wins.
  $CFLAGS << " -Wall -Wextra -Wno-unused-parameter -Werror -DRUBY_DEBUG=1"
end
if enable_config("sanitizers", false)
  # Ruby leaves C frames by __builtin_longjmp, which AddressSanitizer does not notice: its red zones on the stack would
  # stay and be reported later, in Ruby's own frames. Canaries and UBSan's bounds watch the stack instead.
  flags = "-fsanitize=address,undefined --param asan-stack=0 -fstack-protector-all -fno-omit-frame-pointer -g"
  $CFLAGS << " #{flags}"
  $LDFLAGS << " #{flags}"
end
if enable_config("coverage", false)
  $CFLAGS << " --coverage -O0 -DMP_PLAIN_C" # plain C inlines nothing: a branch counts once
  $LDFLAGS << " --coverage -Wl,-u,__gcov_dump" # for processes that end by exit!: see tools/coverage/count.rb
end
$CFLAGS << " -DMP_CANARIES=1" if enable_config("canaries", false)

if (reached = enable_config("reached", false))
  $CFLAGS << " -fsanitize-coverage=trace-pc"
  $srcs << "reached.c"
  $VPATH << "#{root}/fuzz"
end

create_makefile("manypack/manypack")
File.write("Makefile", "reached.o: CFLAGS += -fno-sanitize-coverage=trace-pc\n", mode: "a") if reached
# mkmf only knows the headers beside this file.
headers = folders.flat_map { |folder| Dir["#{folder}/*.h"] }
File.write("Makefile", "$(OBJS): #{headers.join(" ")}\n", mode: "a")
