#!/usr/bin/env python3
"""Kernel times of PyTorch profiler traces for bench_gate_time: one a line, in microseconds, a blank line between
kernels. One series is one kernel with one grid and one block on one device, launched 8 times or more.

    tests/bench/gate_times.py TRACE.json[.gz]... > times.txt
"""
import collections
import gzip
import json
import sys


def series_of(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        trace = json.load(file)
    series = collections.defaultdict(list)
    for event in trace.get("traceEvents", []):
        if str(event.get("cat", "")).lower() != "kernel" or not event.get("dur"):
            continue
        args = event.get("args", {})
        key = (event.get("name"), args.get("device"), str(args.get("grid")), str(args.get("block")))
        series[key].append(float(event["dur"]))
    return [times for times in series.values() if len(times) >= 8 and min(times) > 5]  # below 5 us the clock's step shows


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = False
    for path in sys.argv[1:]:
        for times in series_of(path):
            found = True
            print("\n".join(map(str, times)), end="\n\n")
    if not found:
        sys.exit("no kernel is launched 8 times or more in these traces")


if __name__ == "__main__":
    main()
