#!/usr/bin/env python3
"""Import of a large PyTorch trace: attnscope, HolisticTraceAnalysis and Python's json.load in one run, as ratios.

usage: import.py --build BUILD --trace TRACE.json[.gz] [--megabytes 500] [--hta-python PYTHON] [--repetitions 3]

TRACE is a real trace as PyTorch wrote it. It is repeated with new ids and later times until it is large enough. PYTHON can import hta
(PyPI: HolisticTraceAnalysis); without it that contender is left out, and said so. All run on one core (taskset).
"""
import argparse, concurrent.futures, gzip, os, pathlib, re, shutil, statistics, subprocess, sys, tempfile, time

IDS = re.compile(rb'"(?:External id|external id|correlation|Ev Idx|id)": ?(\d+)')
TIMES = re.compile(rb'"ts": ?(\d+(?:\.\d+)?)')
OTHERS = {
    "Python's json.load": "import json, sys\nwith open(sys.argv[1]) as f: n = len(json.load(f)['traceEvents'])\nprint(n)",
    "HolisticTraceAnalysis": "import logging, sys\nlogging.disable(logging.CRITICAL)\nfrom hta.trace_analysis import TraceAnalysis\n"
                             "print(len(TraceAnalysis(trace_files={0: sys.argv[1]}).t.get_trace(0)))",
}


def pieces(text):
    """The text of the events, cut at every number that differs in each copy: [text, kind, number, text, ...]."""
    found = sorted([(m.span(1), "id") for m in IDS.finditer(text)] + [(m.span(1), "ts") for m in TIMES.finditer(text)])
    out, at = [], 0
    for (start, end), kind in found:
        out += [text[at:start], (kind, text[start:end])]
        at = end
    return out + [text[at:]]


def repeat(trace, file, megabytes):
    """Writes the repeated trace; returns the number of copies."""
    data = trace.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    begin = data.index(b"[", data.index(b'"traceEvents"')) + 1
    end = data.rindex(b"]")
    parts = pieces(data[begin:end].strip())
    ids = [int(p[1]) for p in parts if isinstance(p, tuple) and p[0] == "id"]
    times = [float(p[1]) for p in parts if isinstance(p, tuple) and p[0] == "ts" and float(p[1]) > 0]
    stride, span = max(ids) + 1, int(max(times) - min(times)) + 10_000_000
    copies = 0
    with open(file, "wb") as out:
        out.write(data[:begin])
        while out.tell() < megabytes * 1_000_000:
            shift, later = copies * stride, copies * span
            out.write(b",\n" if copies else b"")
            out.write(b"".join(p if isinstance(p, bytes) else
                               str(int(p[1]) + shift).encode() if p[0] == "id" else
                               (b"%d" % (int(p[1].split(b".")[0]) + later)) + p[1][len(p[1].split(b".")[0]):] for p in parts))
            copies += 1
        out.write(data[end:])
    return copies


def once(command):
    """Processor and wall time in seconds, peak memory in MB (resident, with what is mapped), and the last line of its output."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(["taskset", "-c", "0", *map(str, command)], stdout=output, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0), errors.seek(0)
        if child.returncode != 0:
            sys.exit(f"{command} ended with {child.returncode}:\n{errors.read().decode()[-2000:]}")
        text = output.read().decode().strip()
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--trace", type=pathlib.Path, required=True)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--hta-python", default="")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="attnscope-bench-import-"))
    try:
        plain, packed = scratch / "trace.json", scratch / "trace.json.gz"
        with concurrent.futures.ProcessPoolExecutor(1) as apart:  # a child's peak memory begins with that of the process that starts it
            copies = apart.submit(repeat, options.trace, plain, options.megabytes).result()
        size = plain.stat().st_size / 1e6
        subprocess.run(["gzip", "-kc6", plain], stdout=open(packed, "wb"), check=True)
        print(f"{options.trace.name} x {copies}: {size:.0f} MB, gzip {packed.stat().st_size / 1e6:.0f} MB; {os.cpu_count()} cores, load average "
              f"{os.getloadavg()[0]:.1f} at the start (only processor time means something where other work runs)")
        stages = [options.build / "tests/bench/bench_import"]
        contenders = {
            "attnscope import": lambda: [options.build / "bin/attnscope", "import", plain, "-o", scratch / "run", "--replace"],
            "attnscope: read, not written": lambda: stages + ["import", plain],
            "attnscope: its JSON scanner alone": lambda: stages + ["scan", plain],
            "attnscope: read the .gz, not written": lambda: stages + ["import", packed],
            "attnscope: its gzip alone": lambda: stages + ["unpack", packed],
            "gzip -dc": lambda: ["sh", "-c", f"gzip -dc {packed} > /dev/null"],
            "Python's json.load": lambda: [sys.executable, "-c", OTHERS["Python's json.load"], plain],
        }
        if options.hta_python:
            contenders["HolisticTraceAnalysis"] = lambda: [options.hta_python, "-c", OTHERS["HolisticTraceAnalysis"], plain]
        samples = {name: [] for name in contenders}
        for _ in range(options.repetitions):
            for name, command in contenders.items():
                samples[name].append(once(command()))
        ours = statistics.median(s[0] for s in samples["attnscope import"])
        print("\n| | processor time, s | MB/s of JSON | ratio | peak memory, MB |\n|---|---|---|---|---|")
        for name, seen in samples.items():
            cpu = statistics.median(s[0] for s in seen)
            width = max(s[0] for s in seen) - min(s[0] for s in seen)
            print(f"| {name} | {cpu:.2f} ± {width / 2:.2f} | {size / cpu:.0f} | {cpu / ours:.2f} | {max(s[2] for s in seen):.0f} |")
        if not options.hta_python:
            print("\nHolisticTraceAnalysis: not run (--hta-python names a Python that can import hta)")
        for name in ("attnscope: read, not written", "HolisticTraceAnalysis"):
            if name in samples:
                print(f"{name}: {samples[name][0][3].splitlines()[-1]}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
