#!/usr/bin/env bash
# usage: run.sh PROGRAM TARGET CORPUS   fuzzes one importer for ATTNSCOPE_FUZZ_SECONDS (10), or ATTNSCOPE_FUZZ_RUNS executions; fails on a
# crash, a hang of 25 s, or more than 2 GiB. CORPUS is kept from run to run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1 target=$2 corpus=$3/$2
samples=${ATTNSCOPE_SAMPLES:-${ATTNSCOPE_SOURCE_DIR:-$here/../..}/../shared/samples}
mkdir -p "$corpus"
python3 "$here/seeds.py" "$target" "$corpus" "$samples"
largest=2048  # small inputs run fast; long ones are tests of their own (tests/import/damage_test.cpp)
[ "$target" != nsight-systems ] || largest=8192
limit=(-max_total_time="${ATTNSCOPE_FUZZ_SECONDS:-10}")
[ -z "${ATTNSCOPE_FUZZ_RUNS:-}" ] || limit=(-runs="$ATTNSCOPE_FUZZ_RUNS")
cd "$corpus"  # where a crash leaves its input
# The quarantine of freed memory is kept small: it would fall out of the processor's cache. -entropic: its book-keeping took a third of the time.
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=1:${ASAN_OPTIONS:-} ATTNSCOPE_FUZZ=$target
exec "$program" "${limit[@]}" -max_len=$largest -dict="$here/import.dict" -entropic=0 -timeout=25 -rss_limit_mb=2048 -print_final_stats=1 "$corpus"
