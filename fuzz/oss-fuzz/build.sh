#!/bin/bash -eu
# Builds each target of core/fuzz as OSS-Fuzz asks for it, and zips its seeds: the bytes that the core's tests read.
cd "${CORE:-$SRC/manypack/core}"
sources=(*.c)
targets=(fuzz/[!f]*.c fuzz/find.c) # all but fuzzer.c, which has libFuzzer's function
targets=("${targets[@]/fuzz\/replay.c/}")
targets=("${targets[@]/fuzz\/every.c/}")
mkdir -p "$OUT/seeds"
${HOST_CC:-cc} -std=c99 -I. -DMP_VECTORS='"../test/vectors"' -o "$OUT/seeds/core_test" \
  "${sources[@]}" test/*_test.c test/main.c test/tapes.c
mkdir -p "$OUT/seeds/bytes" && "$OUT/seeds/core_test" "$OUT/seeds/bytes" >/dev/null
for target in $(sed -n 's/^TARGETS = //p' Makefile); do
  # shellcheck disable=SC2046,SC2086
  $CC $CFLAGS -std=c99 -I. -DMP_FUZZ_TARGET="mp_fuzz_$target" -o "$OUT/$target" "${sources[@]}" \
    $(printf '%s\n' "${targets[@]}" | grep .) fuzz/fuzzer.c $LIB_FUZZING_ENGINE
  zip -jq "$OUT/${target}_seed_corpus.zip" "$OUT/seeds/bytes/"*
done
rm -r "$OUT/seeds"
