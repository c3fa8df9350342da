#!/usr/bin/env bash
# The reports that are kept here, one folder a GPU: run/ as the collector wrote it, report.html and report.md of it.
#   examples/report/regenerate.sh            runs attention on each virtual GPU again and writes everything anew
#   examples/report/regenerate.sh --render   writes the reports anew from the runs that are here
#   examples/report/regenerate.sh --check    tells which report is no longer what this version writes; exit code 1 if one is
# Build first (README). ATTNSCOPE names the command: build/bin/attnscope if it is not set. The README's pictures are taken where Debian's
# chromium is there, and are not checked: fonts differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
attnscope=${ATTNSCOPE:-build/bin/attnscope}
declare -A devices=([a100]=A100-SXM4-80GB [h100]=H100-SXM5)
here=examples/report

case ${1:-} in
"")
    # Where the programs lie is part of a run: the same place for whoever writes it.
    prefix=/tmp/attnscope
    [ ! -e "$prefix" ] || { echo "$prefix is in the way: remove it" >&2; exit 1; }
    trap 'rm -rf "$prefix"' EXIT
    mkdir "$prefix"
    cp -r "$(dirname "$attnscope")/../"{bin,lib,share} "$prefix"
    for name in "${!devices[@]}"; do
        rm -rf "$here/$name/run"
        "$prefix/bin/attnscope" attention --device "virtual:${devices[$name]}" -o "$here/$name/out" > /dev/null
        mv "$here/$name/out/run" "$here/$name/run"
        rm -rf "$here/$name/out"
    done ;&
--render)
    for name in "${!devices[@]}"; do
        "$attnscope" report "$here/$name/run" -o "$here/$name/report.html" -o "$here/$name/report.md"
    done
    if command -v chromium > /dev/null; then python3 "$here/pictures.py" "$here/a100/report.html" "$here/a100"; fi ;;
--check)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    stale=0
    for name in "${!devices[@]}"; do
        "$attnscope" report "$here/$name/run" -o "$scratch/report.html" -o "$scratch/report.md"
        for format in html md; do
            cmp -s "$scratch/report.$format" "$here/$name/report.$format" && continue
            echo "stale: $here/$name/report.$format (examples/report/regenerate.sh --render writes it anew)" >&2
            diff "$scratch/report.$format" "$here/$name/report.$format" | head -n 8 | cut -c1-200 >&2 || true
            stale=1
        done
    done
    # The README shows how the report begins on a terminal.
    awk '/^Those launch counts/ {exit} shown {print} /^On the terminal/ {shown = 1}' README.md | sed 's/^    //' | sed -e '1{/^$/d}' -e '${/^$/d}' > "$scratch/readme"
    "$attnscope" report "$here/a100/run" | sed -n "1,$(wc -l < "$scratch/readme")p" > "$scratch/terminal"
    if ! diff "$scratch/terminal" "$scratch/readme" >&2; then
        echo "stale: the terminal's report in README.md is no longer how this version's begins (<)" >&2
        stale=1
    fi
    exit $stale ;;
*)
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2 ;;
esac
