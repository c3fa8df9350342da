"""Runs the benchmarks' contenders in turns and prints tables of medians, spreads and ratios. See run.sh."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
DEVICE = "A100-SXM4-80GB"  # count_me is a kernel for sm_80


def arguments():
    cache = pathlib.Path(os.environ.get("ATTNSCOPE_CACHE", pathlib.Path.home() / ".cache/attnscope"))
    venv = cache / f"python-{sys.version_info[0]}.{sys.version_info[1]}/bin/python"
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=here.parents[1] / "build")
    parser.add_argument("--python", default=str(venv), help="a Python with PyTorch; its contenders are left out without one")
    parser.add_argument("--launches", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--growth", default="100000,1000000,3000000", help="launches for the table of memory")
    parser.add_argument("--layers", type=int, default=5000, help="attention layers for the table of LibTorch's operations")
    parser.add_argument("--only", choices=["collection", "operations", "counted", "growth", "reader", "report"], help="one table alone")
    parser.add_argument("--counted", type=int, default=0, help="launches under --counters core; 0: a hundredth")
    return parser.parse_args()


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = options.build.resolve()
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="attnscope-bench-"))
        folder = self.build / "lib/attnscope/virtual_gpu"
        # The stand-ins as the launcher preloads them. The profiler drops records without times, so all run with ticks.
        self.environment = dict(os.environ, ATTNSCOPE_VGPU_TICKS="1")
        self.virtual = dict(self.environment, ATTNSCOPE_VIRTUAL_DEVICES=DEVICE, LD_LIBRARY_PATH=str(folder),
                            LD_PRELOAD=":".join(str(f) for f in sorted(folder.glob("*.so*")) if not f.is_symlink()))
        self.program = [str(self.build / "tests/bench/bench_launches")]
        self.torch = [options.python, str(here / "launches.py"), str(self.build / "tests/bench/libbench_loop.so")]
        self.null_client = str(self.build / "tests/bench/libbench_null_client.so")
        for needed in (*self.program, self.torch[2], self.null_client):
            if options.only != "operations" and not pathlib.Path(needed).exists():
                sys.exit(f"{needed} is not built: see run.sh")
        self.read = str(self.build / "tests/bench/bench_read")
        self.report = str(self.build / "tests/bench/bench_report")

    def attnscope(self, *more):
        shutil.rmtree(self.scratch / "run", ignore_errors=True)
        return [str(self.build / "bin/attnscope"), "collect", "--device", "virtual:" + DEVICE, "-o",
                str(self.scratch / "run"), *(more or ("--counters", "none")), "--"]

    def has_torch(self):
        if not pathlib.Path(self.options.python).exists():
            return False
        find = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"
        return subprocess.run([self.options.python, "-c", find], stderr=subprocess.DEVNULL).returncode == 0

    def once(self, command, environment):
        """The program's own words, and what the kernel says of it: wall and processor time, peak memory."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            child = subprocess.Popen(command, env=environment, stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.monotonic() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            for stream in (out, err):
                stream.seek(0)
            text, errors = out.read().decode(), err.read().decode()
        if child.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {child.returncode}:\n{errors}")
        said = json.loads([line for line in text.splitlines() if line.startswith("{")][-1])
        wall -= said.pop("check_wall_s", 0)
        cpu = usage.ru_utime + usage.ru_stime - said.pop("check_cpu_s", 0)
        return {"peak_mb": usage.ru_maxrss / 1024, **said, "wall_s": wall, "cpu_s": cpu}

    def recorded(self):
        """Kernels that the run holds, and how many CUPTI dropped."""
        ends = []
        for file in (self.scratch / "run").glob("*.jsonl"):
            with open(file, "rb") as lines:
                lines.seek(max(0, file.stat().st_size - 4096))
                ending = lines.read()
            if b'"data_loss"' in ending:
                sys.exit(f"{file}: says that records were lost:\n{ending.decode(errors='replace')}")
            last = ending.splitlines()[-1]
            record = json.loads(last)
            if record.get("type") == "end" and "kernels" in record:
                ends.append(record)
        return sum(e["kernels"] for e in ends) - 1, sum(e["dropped"] for e in ends)  # but for bench_start's own


    def share_with_operation(self):
        """Of the kernels that the run holds."""
        kernels = named = 0
        for file in (self.scratch / "run").glob("*.jsonl"):
            with open(file, "rb") as lines:
                for line in lines:
                    if line.startswith(b'{"type":"kernel"'):
                        kernels += 1
                        named += b'"op":' in line
        if kernels == 0:
            sys.exit("the run holds no kernel")
        return named / kernels


def spread(values):
    if len(values) < 2:
        return values[0], 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, high - low


def table(title, head, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def collection(bench, launches, repetitions):
    null = dict(bench.virtual, CUDA_INJECTION64_PATH=bench.null_client)
    contenders = {"program, bare": (lambda n: bench.program + [str(n)], bench.virtual),
                  "program, records thrown away": (lambda n: bench.program + [str(n)], null),
                  "program, attnscope": (lambda n: bench.attnscope() + bench.program + [str(n)], bench.environment)}
    base = {"program, attnscope": "program, bare", "program, records thrown away": "program, bare"}
    if bench.has_torch():
        contenders |= {"PyTorch, bare": (lambda n: bench.torch + [str(n)], bench.virtual),
                       "PyTorch, attnscope": (lambda n: bench.attnscope() + bench.torch + [str(n)], bench.environment),
                       "PyTorch, its profiler": (lambda n: bench.torch + [str(n), "profiler"], bench.virtual)}
        base |= {"PyTorch, attnscope": "PyTorch, bare", "PyTorch, its profiler": "PyTorch, bare"}
    samples = {name: [] for name in contenders}
    nothing = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, (command, environment) in contenders.items():
            nothing[name].append(bench.once(command(0), environment))
            sample = bench.once(command(launches), environment)
            if "attnscope" in name:
                kernels, dropped = bench.recorded()
                sample["kernels"] = kernels
                if kernels != launches or dropped != 0:
                    sys.exit(f"{name}: {launches} launches, {kernels} recorded, {dropped} dropped")
            if sample.get("kernels", launches) != launches:
                sys.exit(f"{name}: {launches} launches, {sample['kernels']} recorded")
            samples[name].append(sample)

    def added(name, key):
        """Per launch, in ns, beyond the bare program; start and end of the process are taken off."""
        def of(which):
            return [1e9 * (s[key] - (z[key] if key in ("wall_s", "cpu_s") else 0)) / launches
                    for s, z in zip(samples[which], nothing[which])]
        values = of(name)
        if name in base:
            values = [a - b for a, b in zip(values, of(base[name]))]
        return spread(values)

    keys = {"loop_s": "loop", "thread_cpu_s": "loop, CPU", "wall_s": "whole", "cpu_s": "whole, CPU"}
    rows = []
    for name in contenders:
        cells = [("+" if name in base else "") + "{:.0f} ± {:.0f}".format(*added(name, key)) for key in keys]
        memory = spread([s["peak_mb"] for s in samples[name]])[0] - (
            spread([s["peak_mb"] for s in samples[base[name]]])[0] if name in base else 0)
        rows.append([name, *cells, ("+" if name in base else "") + f"{memory:.0f}"])
    table(f"{launches:,} launches, {repetitions} repetitions in turns: ns a launch (median ± interquartile range); with + what is "
          "added to the bare program",
          ["", *keys.values(), "peak MB"], rows)
    print("\nloop: on the launching thread. whole: until the process has ended and the records are complete, without the time "
          "of the same process with no launches.")
    if "PyTorch, its profiler" in contenders:
        for key, words in keys.items():
            ours, theirs = added("PyTorch, attnscope", key)[0], added("PyTorch, its profiler", key)[0]
            print(f"attnscope adds {ours / theirs:.3f} of what PyTorch's profiler adds ({words})")
    print(f"recorded: {launches:,} of {launches:,} launches in every run, none dropped")


def operations(bench, layers, repetitions):
    """What LibTorch's operations add to collection: on and off in turns, the same layers."""
    if not bench.has_torch():
        return
    program = [bench.options.python, str(here / "operations.py")]
    off = dict(bench.environment, ATTNSCOPE_OPERATIONS="0")
    observer = str(bench.build / "tests/bench/libbench_empty_observer.so")
    if not pathlib.Path(observer).exists():
        sys.exit(f"{observer} is not built: see run.sh")
    contenders = {"bare": (program, bench.virtual, ""),
                  "bare, an observer of LibTorch's that does nothing": (program, bench.virtual, observer),
                  "attnscope, operations off": (bench.attnscope() + program, off, ""),
                  "attnscope, operations on": (bench.attnscope() + program, bench.environment, ""),
                  "PyTorch's emit_nvtx with shapes": (program, bench.virtual, "nvtx"),
                  "PyTorch's profiler with shapes": (program, bench.virtual, "profiler")}
    samples = {name: [] for name in contenders}
    with_operation = set()
    for _ in range(repetitions):
        for name, (command, environment, watched_by) in contenders.items():
            shutil.rmtree(bench.scratch / "run", ignore_errors=True)
            samples[name].append(bench.once(command + [str(layers), *([watched_by] if watched_by else [])], environment))
            if "attnscope" in name:
                with_operation.add((name, bench.share_with_operation()))
    for name, share in with_operation:
        if share != (0 if "off" in name else 1):
            sys.exit(f"{name}: {share:.3f} of the kernels name their operation")
    rows = []
    for name, seen in samples.items():
        cells = ["{:.1f} ± {:.1f}".format(*spread([1e6 * s[key] for s in seen])) for key in ("loop_s", "thread_cpu_s", "least_cpu_s")]
        rows.append([name, *cells, f"{max(s['peak_mb'] for s in seen):.0f}"])
    table(f"{layers:,} attention layers in Python, {repetitions} repetitions in turns: us a layer (median ± interquartile range)",
          ["", "loop", "loop, CPU", "fastest fifty, CPU", "peak MB"], rows)
    for key, words in (("loop_s", "loop"), ("thread_cpu_s", "loop, CPU"), ("least_cpu_s", "fastest fifty, CPU")):
        def ratio(above, below):
            return "{:.3f} ± {:.3f}".format(*spread([a[key] / b[key] for a, b in zip(samples[above], samples[below])]))
        ours = [(on[key] - off[key] - watched[key] + bare[key]) / off[key] for bare, watched, off, on, *_ in zip(*samples.values())]
        print(f"operations on / off: {ratio('attnscope, operations on', 'attnscope, operations off')}; "
              f"the observer that does nothing / bare: {ratio(list(contenders)[1], 'bare')}; "
              "attnscope's part, what that observer costs taken off: {:.3f} ± {:.3f} ({})".format(*spread(ours), words))


FIXTURE = {"attnscope_fixture": 1, "note": "invented: the benchmark looks at time alone",
           "kernels": [{"match": ".*", "metrics": {"dram__bytes_read.sum": 1, "gpu__time_duration.sum": 1000}}]}


def counted(bench, launches, repetitions):
    fixture = bench.scratch / "fixture.json"
    fixture.write_text(json.dumps(FIXTURE))
    environment = dict(bench.environment, ATTNSCOPE_VGPU_COUNTERS=str(fixture))
    contenders = {"bare": (lambda n: bench.program + [str(n)], bench.virtual),
                  "attnscope --counters core": (lambda n: bench.attnscope("--counters", "core") + bench.program + [str(n)],
                                                environment)}
    samples = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, (command, where) in contenders.items():
            sample = bench.once(command(launches), where)
            if name != "bare" and bench.recorded() != (launches, 0):
                sys.exit(f"--counters core: {launches} launches, {bench.recorded()} recorded and dropped")
            samples[name].append(sample)
    rows = []
    for name, seen in samples.items():
        cells = ["{:.2f} ± {:.2f}".format(*spread([1e6 * s[key] / launches for s in seen])) for key in ("loop_s", "thread_cpu_s")]
        rows.append([name, *cells, f"{max(s['peak_mb'] for s in seen):.0f}"])
    table(f"{launches:,} launches, each with a counter session of its own on the stand-in, which counts nothing: us a launch. A real "
          "GPU adds a synchronisation and the read-out to each", ["", "loop", "loop, CPU", "peak MB"], rows)


def growth(bench, counts):
    rows = []
    for launches in counts:
        bare = bench.once(bench.program + [str(launches)], bench.virtual)["peak_mb"]
        with_us = bench.once(bench.attnscope() + bench.program + [str(launches)], bench.environment)["peak_mb"]
        kernels, dropped = bench.recorded()
        rows.append([f"{launches:,}", f"{bare:.0f}", f"{with_us:.0f}", f"{with_us - bare:.0f}", f"{kernels:,}", str(dropped)])
    table("Peak memory of the program, MB", ["launches", "bare", "attnscope", "added", "recorded", "dropped"], rows)


def reader(bench, launches, repetitions):
    bench.once(bench.attnscope() + bench.program + [str(launches)], bench.environment)
    run = bench.scratch / "run"
    file = next(run.glob("*.jsonl"))
    python = "import json, sys, time\ns = time.monotonic()\nn = sum(json.loads(l)['type'] == 'kernel' for l in open(sys.argv[1]))\n" \
             "print(json.dumps({'read_s': time.monotonic() - s, 'launches': n}))"
    contenders = {"attnscope's reader": [bench.read, str(run)], "Python's json, line by line": [sys.executable, "-c", python, str(file)]}
    samples = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, command in contenders.items():
            samples[name].append(bench.once(command, dict(os.environ)))
    ours = spread([s["read_s"] for s in samples["attnscope's reader"]])[0]
    rows = []
    for name, seen in samples.items():
        middle, width = spread([s["read_s"] for s in seen])
        rows.append([name, f"{middle:.2f} ± {width:.2f}", f"{middle / ours:.1f}", f"{1e9 * spread([s['cpu_s'] for s in seen])[0] / launches:.0f}",
                     f"{file.stat().st_size / 1e6 / middle:.0f}", f"{max(s['peak_mb'] for s in seen):.0f}"])
    table(f"Reading a run of {launches:,} launches ({file.stat().st_size / 1e6:.0f} MB)",
          ["", "s", "ratio", "CPU ns a launch", "MB/s", "peak MB"], rows)


def elapsed(command, times):
    """Milliseconds of whole processes, one after the other."""
    out = []
    for _ in range(times):
        start = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        out.append(1e3 * (time.monotonic() - start))
    return out


def report(bench, launches, repetitions):
    """From a run on disk to HTML, Markdown and JSON: the whole command, and the share of each step."""
    bench.once(bench.attnscope() + bench.program + [str(launches)], bench.environment)
    run, tool = str(bench.scratch / "run"), str(bench.build / "bin/attnscope")
    outputs = [word for ending in ("html", "md", "json") for word in ("-o", str(bench.scratch / ("report." + ending)))]
    # The command prints nothing of its own; its last line stands for it.
    whole = ["bash", "-c", '"$@" && echo "{}"', "report", tool, "report", run, *outputs]
    samples = [bench.once(whole, dict(os.environ)) for _ in range(repetitions)]
    steps = [bench.once([bench.report, run], dict(os.environ)) for _ in range(repetitions)]
    wall, width = spread([s["wall_s"] for s in samples])
    cpu = spread([s["cpu_s"] for s in samples])[0]
    table(f"A run of {launches:,} launches to HTML, Markdown and JSON by one command", ["", "s", "CPU s", "peak MB"],
          [["attnscope report RUN -o x.html -o x.md -o x.json", f"{wall:.2f} ± {width:.2f}", f"{cpu:.2f}",
            f"{max(s['peak_mb'] for s in samples):.0f}"]])
    keys = {"read_s": "read", "analyse_s": "analyse", "build_s": "rules and report", "html_s": "HTML", "markdown_s": "Markdown", "json_s": "JSON"}
    total = sum(spread([s[key] for s in steps])[0] for key in keys)
    rows = [[name, "{:.3f} ± {:.3f}".format(*spread([s[key] for s in steps])), f"{100 * spread([s[key] for s in steps])[0] / total:.0f} %"]
            for key, name in keys.items()]
    table("The share of each step", ["", "CPU s", "share"], rows)
    example = str(here.parents[1] / "examples/report/a100/run")
    table("What a person waits for", ["", "ms"],
          [["attnscope report examples/report/a100/run", "{:.0f} ± {:.0f}".format(*spread(elapsed([tool, "report", example], max(3, repetitions))))],
           ["attnscope --help", "{:.1f} ± {:.1f}".format(*spread(elapsed([tool, "--help"], 4 * max(3, repetitions))))]])


def main():
    options = arguments()
    bench = Bench(options)
    try:
        print(f"virtual GPU {DEVICE}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the start (above the "
              "cores, only processor time means something). On the stand-in a launch itself costs next to nothing: what is "
              "added is what counts.")
        tables = {"collection": lambda: collection(bench, options.launches, options.repetitions),
                  "operations": lambda: operations(bench, options.layers, options.repetitions),
                  "counted": lambda: counted(bench, options.counted or max(1, options.launches // 100), options.repetitions),
                  "growth": lambda: growth(bench, [int(n) for n in options.growth.split(",")]),
                  "reader": lambda: reader(bench, options.launches, options.repetitions),
                  "report": lambda: report(bench, options.launches, options.repetitions)}
        for name, measure in tables.items():
            if options.only in (None, name):
                measure()
    finally:
        shutil.rmtree(bench.scratch, ignore_errors=True)


main()
