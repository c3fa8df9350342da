#!/usr/bin/env bash
# What collection costs, and how long reading takes: all contenders in one run, interleaved, as ratios.
#   tests/bench/run.sh [--launches 1000000] [--layers 5000] [--repetitions 5] [--growth 100000,1000000,3000000] [--only TABLE]
# Build first: cmake --build build --target product bench_launches bench_null_client bench_empty_observer bench_read
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec python3 "$here/compare.py" "$@"
