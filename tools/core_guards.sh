#!/usr/bin/env sh
# The tests of the kernels, in C++: as they are shipped, under AddressSanitizer and
# UndefinedBehaviorSanitizer, under ThreadSanitizer, and for arm64 in an emulator if there is one.
#
#   core_guards.sh PYTHON BUILD [plain|asan|tsan|arm64]...    all four where none is named
set -eu
cd "$(dirname "$0")/.."
python=$1
build=$2
shift 2
[ $# -gt 0 ] || set -- plain asan tsan arm64

cmake="$(dirname "$python")/cmake"  # Debian's may be too old
[ -x "$cmake" ] || cmake=cmake

made() {  # made NAME OPTION...: configure and compile
    name=$1
    shift
    "$cmake" -S . -B "$build/$name" -DCMAKE_BUILD_TYPE=Release -DSOFTLOOKUP_GUARDS=ON \
        "$@" >/dev/null
    "$cmake" --build "$build/$name" --parallel "${JOBS:-2}" >"$build/$name.log" 2>&1 ||
        { cat "$build/$name.log"; exit 1; }
    ! grep -n 'warning:' "$build/$name.log"  # a compiler's warning about the kernels is a failure
}

plain() {
    made plain
    "$build/plain/kernels_test" "${PROBLEMS:-1500}"
    "$build/plain/blocks_test" "${PROBLEMS:-1500}"
    "$build/plain/backward_test" "${PROBLEMS:-600}"
    "$build/plain/traps_test"
    "$build/plain/pool_test" 2000
}

asan() {
    # GCC 12 aligns the frames of detect_stack_use_after_return to 32 bytes, and vectors need 64: it is
    # on for the pool alone, which holds none and whose threads do see each other's frames
    export ASAN_OPTIONS=detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1
    made asan -DSOFTLOOKUP_SANITIZE=address,undefined
    "$build/asan/kernels_test" "${PROBLEMS:-400}" 2
    "$build/asan/blocks_test" "${PROBLEMS:-300}" 5
    "$build/asan/backward_test" "${PROBLEMS:-150}" 8
    "$build/asan/traps_test"
    ASAN_OPTIONS=detect_stack_use_after_return=1 "$build/asan/pool_test" 300
}

tsan() {
    made tsan -DSOFTLOOKUP_SANITIZE=thread
    "$build/tsan/pool_test" 300
    "$build/tsan/kernels_test" "${PROBLEMS:-64}" 3
    "$build/tsan/blocks_test" "${PROBLEMS:-64}" 6
    "$build/tsan/backward_test" "${PROBLEMS:-64}" 10
}

arm64() {
    if ! command -v aarch64-linux-gnu-g++ >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
        echo "arm64: left out (apt-get install g++-aarch64-linux-gnu qemu-user)"
        return
    fi
    made arm64 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_EXE_LINKER_FLAGS=-static
    qemu-aarch64 "$build/arm64/kernels_test" "${PROBLEMS:-100}" 4
    qemu-aarch64 "$build/arm64/blocks_test" "${PROBLEMS:-60}" 7
    qemu-aarch64 "$build/arm64/backward_test" "${PROBLEMS:-40}" 11
    qemu-aarch64 "$build/arm64/pool_test" 20 no-forks  # its own threads do not survive one
}

mkdir -p "$build"
for part; do
    echo "-- $part"
    "$part"
done
