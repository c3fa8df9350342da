#!/usr/bin/env bash
# usage: run.sh PROGRAM TARGET CORPUS   fuzzes one importer for ATTNSCOPE_FUZZ_SECONDS (10); fails on a crash, a hang of
# 25 s, or more than 2 GiB. CORPUS is kept from run to run; real files seed it where they are.
set -euo pipefail
program=$1 target=$2 corpus=$3/$2
samples=${ATTNSCOPE_SAMPLES:-${ATTNSCOPE_SOURCE_DIR:-.}/../shared/samples}
mkdir -p "$corpus"
seed() {  # at most 200 kB of each file: libFuzzer mutates small inputs best
    local file=$1 bytes=$corpus/seed-$(basename "$1")
    case $target:$file in
        pytorch:*.tar.gz) return ;;
        pytorch:*.gz) (gzip -dc "$file" || true) | head -c 200000 > "$bytes" ;;
        *) head -c 200000 "$file" > "$bytes" ;;
    esac
}
case $target in
    pytorch) from=kineto ;;
    nsight-compute) from=ncu ;;
    nsight-systems | nsys-stats) from=nsys ;;
    *) from='*' ;;
esac
for file in "$samples"/$from/*; do [ ! -f "$file" ] || seed "$file"; done
printf '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"correlation": 1}}]}' > "$corpus/seed-small"
cd "$corpus"  # where a crash leaves its input
ATTNSCOPE_FUZZ=$target exec "$program" -max_total_time="${ATTNSCOPE_FUZZ_SECONDS:-10}" -timeout=25 -rss_limit_mb=2048 -print_final_stats=1 "$corpus"
