#!/usr/bin/env bash
# The main job on a fresh Debian or Ubuntu machine: sets up, builds, runs every attention implementation, writes the report.
#   examples/demo.sh [options of `attnscope attention`]      e.g.  examples/demo.sh --device virtual:H100-SXM5 -o out
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"
SECONDS=0
install_packages "${packages_build[@]}"
setup_downloads
configure -DATTNSCOPE_BUILD_TESTS=OFF
compile --target product
say "set-up and build took ${SECONDS} s"
exec "$build/bin/attnscope" attention "$@"
