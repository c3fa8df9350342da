#!/usr/bin/env bash
# Sets up, builds with warnings as errors, checks the formatting, and runs every test; ends with ctest's summary.
#   tests/run.sh [options of ctest]      e.g.  tests/run.sh -R occupancy
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"
SECONDS=0
install_packages "${packages_build[@]}" "${packages_tests[@]}"
setup_downloads
setup_python_tests
setup_browser_tests
setup_old_cupti
say "checking the formatting"
cd "$repository"
find include src collectors reports examples tests \( -name '*.cpp' -o -name '*.h' \) -print0 |
    xargs -0 "$environment/bin/clang-format" --dry-run --Werror >&2 || fail "clang-format: run 'clang-format -i' (version 14) on the files named above"

say "building what parses under AddressSanitizer and UBSan in $build-sanitize"
cmake --preset sanitize -S "$repository" -B "$build-sanitize" -DATTNSCOPE_PYTHON="$python" > /dev/null || fail "CMake's configuration of the sanitizer build failed"
cmake --build "$build-sanitize" -j "$jobs" >&2 || fail "the sanitizer build failed: see the compiler's message above"
configure -DATTNSCOPE_BUILD_TESTS=ON -DATTNSCOPE_SANITIZED_TESTS="$build-sanitize" -DATTNSCOPE_TRITON="$triton_root"
compile
# Each importer's fuzz target runs for this long.
export ATTNSCOPE_FUZZ_SECONDS=${ATTNSCOPE_FUZZ_SECONDS:-60}
say "set-up and build took ${SECONDS} s; running the tests"
exec ctest --test-dir "$build" --output-on-failure -j "$jobs" "$@"
