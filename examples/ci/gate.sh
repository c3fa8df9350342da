#!/usr/bin/env bash
# Runs attention on a virtual GPU and holds it against a committed baseline: no GPU, the same answer on every runner.
#
#   gate.sh [options] [-- CMD...]      CMD is your program; without one the attention of LibTorch in the shape below
#     -o DIR             where the run and the results go (attnscope-gate)
#     --baseline FILE    (baseline.json beside this script)
#     --policy FILE      (gate.toml beside this script)
#     --device D         (virtual:A100-SXM4-80GB)
#     --update REASON    make this run the baseline: shows what changes, then writes it
#
# Leaves the run, comment.md, junit.xml, results.sarif and verdict.json in DIR, whatever the verdict. Exit code: 0 all holds, 1 something
# is worse, 2 bad input, 3 cannot judge; that of the program where it failed. ATTNSCOPE names the program (attnscope).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
attnscope=${ATTNSCOPE:-attnscope}
out=attnscope-gate baseline=$here/baseline.json policy=$here/gate.toml device=virtual:A100-SXM4-80GB reason=""
usage() { sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
while [ $# -gt 0 ]; do
    [ "$1" = -- ] && { shift; break; }
    [ $# -ge 2 ] || usage
    case $1 in
        -o) out=$2 ;;
        --baseline) baseline=$2 ;;
        --policy) policy=$2 ;;
        --device) device=$2 ;;
        --update) reason=$2 ;;
        *) usage ;;
    esac
    shift 2
done
command -v "$attnscope" > /dev/null || { echo "gate.sh: $attnscope is not there: name the program with ATTNSCOPE" >&2; exit 2; }
mkdir -p "$out"

if [ $# -gt 0 ]; then
    "$attnscope" collect --device "$device" --force -o "$out/run" -- "$@"
else
    "$attnscope" attention --device "$device" --batch 2 --heads 8 --query-length 512 --head-dim 64 --dtype bf16 --causal \
        -o "$out" > "$out/report.txt"
fi
if [ -n "$reason" ]; then
    exec "$attnscope" gate "$out/run" --write-baseline "$baseline" --reason "$reason"
fi
arguments=(--baseline "$baseline" --markdown "$out/comment.md" --junit "$out/junit.xml" --sarif "$out/results.sarif" --json "$out/verdict.json")
[ -e "$policy" ] && arguments+=(--policy "$policy")
[ -z "${GITHUB_ACTIONS:-}" ] || arguments+=(--github)
exec "$attnscope" gate "$out/run" "${arguments[@]}"
