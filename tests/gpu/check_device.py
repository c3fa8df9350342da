#!/usr/bin/env python3
"""Holds attnscope against a real GPU, against Nsight Compute and against its own predictions, in under six minutes, from
binaries that are built already.

    tests/gpu/check_device.py [--build build] [-o out] [--virtual H200] [-- SHAPE...]

Steps: what `doctor` says; the attention workload bare, with activity records, with counters, on the virtual GPU of the same
kind, and under `ncu`; the stored counter data evaluated again without a GPU; what NVIDIA's documents leave open
(probe_cupti). Prints one table, leaves everything in the output folder, and in `fixture/` small recorded files that can
become test fixtures. Exits 0 when everything that was compared agrees, 1 when not, 77 where there is no GPU (ctest: skipped).
--rehearse takes a second virtual run, with counter values from a fixture file, in the place of the real one and of ncu: it
proves the script, not the product.
"""
import argparse
import csv
import io
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

RESOURCES = ("grid", "block", "registers", "static_shared", "dynamic_shared")
# Kernels that cuBLAS and cuDNN choose on a real GPU: the virtual one records the call, not the kernel.
LIBRARY = ("cublas", "cutlass_80_", "cudnn", "xmma", "nvjet", "gemm", "splitK", "sm80_", "sm90_", "sm100_")
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
TENSOR = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
READ, WRITE = "dram__bytes_read.sum", "dram__bytes_write.sum"
TIME = "gpu__time_duration.sum"
# Bytes within 5% where the footprint is above four times L2, percentages within 2 points: the same kernel twice is not the
# same kernel to the last cycle.
BYTES_TOLERANCE, POINTS_TOLERANCE = 0.05, 2.0
HERE = pathlib.Path(__file__).resolve().parent


def library_chosen(name):
    return "pytorch" not in name and "at::" not in name and "_ZN2at" not in name and any(word in name for word in LIBRARY)


def records(file):
    for line in file.read_text(errors="replace").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return  # a cut tail


class RunFolder:
    """The kernels of a run in the order of issue, of each of its collections, with their counter values."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.kernels = {"activity": [], "counters": []}
        self.devices, self.diagnostics = [], []
        for file in sorted(self.folder.glob("*.jsonl")):
            if not file.name.endswith(".counters.jsonl") and file.name != "clocks.jsonl":
                self.read_process(file)

    def read_process(self, file):
        names, ours, collection, values = {}, [], "activity", self.read_counters(file)
        for record in records(file):
            kind = record["type"]
            if kind == "process":
                collection = record.get("collection", "activity")
            elif kind == "name":
                names[record["id"]] = record["name"]
            elif kind == "device":
                self.devices.append(record)
            elif kind == "diagnostic":
                self.diagnostics.append(record)
            elif kind == "kernel":
                key = (record["correlation"], record.get("graph_node"))
                ours.append({
                    "correlation": record["correlation"], "name": names.get(record.get("name"), ""),
                    "grid": tuple(record[f"grid_{a}"] for a in "xyz"), "block": tuple(record[f"block_{a}"] for a in "xyz"),
                    "registers": record.get("registers"), "static_shared": record.get("static_shared", 0),
                    "dynamic_shared": record.get("dynamic_shared", 0), "uncounted": record.get("uncounted"),
                    "counters": values.get(key) or values.get((key[0], None)) or {},
                    "time": record["end_ns"] - record["start_ns"] if "end_ns" in record else None})
        self.kernels[collection] += sorted(ours, key=lambda k: k["correlation"])

    @staticmethod
    def read_counters(file):
        metrics, values = {}, {}
        evaluated = file.with_name(file.name.removesuffix(".jsonl") + ".counters.jsonl")
        for record in records(evaluated) if evaluated.exists() else ():
            if record["type"] == "metric":
                metrics[record["id"]] = record["name"]
            elif record["type"] == "counter" and "value" in record and "correlation" in record:
                values.setdefault((record["correlation"], record.get("graph_node")), {})[metrics[record["metric"]]] = record["value"]
        return values


def read_ncu(text):
    """`ncu --csv --page raw --print-units base`: a header, a row of units, a row a kernel."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    triple = lambda words: tuple(int(part) for part in words.strip("() ").split(","))

    def number(words):
        try:
            return float(words.replace(",", ""))
        except ValueError:
            return None
    kernels = []
    for row in csv.DictReader(lines[start:]):
        if not row["ID"]:
            continue
        whole = lambda name: None if number(row.get(name, "")) is None else int(number(row[name]))
        kernels.append({
            "name": row["Kernel Name"], "grid": triple(row["Grid Size"]), "block": triple(row["Block Size"]),
            "registers": whole("launch__registers_per_thread"),
            "static_shared": whole("launch__shared_mem_per_block_static"),
            "dynamic_shared": whole("launch__shared_mem_per_block_dynamic"),
            "counters": {name: number(value) for name, value in row.items() if "__" in name and number(value or "") is not None}})
    return kernels


def as_ncu(kernels):
    """What ncu would print for these kernels: the rehearsal's stand-in for it."""
    names = sorted({name for k in kernels for name in k["counters"]})
    launch = ("launch__registers_per_thread", "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic")
    out = io.StringIO()
    table = csv.writer(out, quoting=csv.QUOTE_ALL)
    table.writerow(["ID", "Kernel Name", "Grid Size", "Block Size", *launch, *names])
    table.writerow([""] * (4 + len(launch) + len(names)))
    triple = lambda t: "(" + ", ".join(map(str, t)) + ")"
    for i, k in enumerate(kernels):
        table.writerow([i, k["name"], triple(k["grid"]), triple(k["block"]), k["registers"], k["static_shared"], k["dynamic_shared"],
                        *(f"{k['counters'][n]:,}" if n in k["counters"] else "" for n in names)])
    return "==PROF== rehearsal\n" + out.getvalue()


class Table:
    """What was held against what; `good` once everything that could be compared agrees."""

    def __init__(self):
        self.good, self.rows = True, []

    def row(self, title, ok, text, details=()):
        self.rows.append({"check": title, "ok": ok, "text": text, "details": list(details)})
        self.good &= ok is not False
        print(f"{'ok  ' if ok else '--  ' if ok is None else 'FAIL'} {title:<44} {text}", flush=True)
        for line in list(details)[:12]:
            print(f"       {line}")
        if len(details) > 12:
            print(f"       and {len(details) - 12} more")

    def resources(self, title, left, right, fields=RESOURCES):
        different = []
        for i, (a, b) in enumerate(zip(left, right)):
            wrong = [f"{field} {a[field]} / {b[field]}" for field in fields if a[field] != b[field]]
            if wrong:
                different.append(f"launch {i}: {a['name'][:70]}: {', '.join(wrong)}")
        paired = min(len(left), len(right))
        share = 100.0 * (paired - len(different)) / max(len(left), len(right), 1)
        self.row(title, not different and len(left) == len(right) > 0,
                 f"{len(left)} and {len(right)} launches, {paired - len(different)} equal ({share:.1f}%)", different)

    def metric(self, title, left, right, names, tolerance, relative, floor=0.0):
        """One value, or the sum of several, launch by launch."""
        compared, different, worst = 0, [], 0.0
        for i, (a, b) in enumerate(zip(left, right)):
            if not all(n in a["counters"] and n in b["counters"] for n in names):
                continue
            x, y = (sum(k["counters"][n] for n in names) for k in (a, b))
            if max(x, y) < floor:
                continue
            compared += 1
            distance = abs(x - y) / max(abs(y), 1e-9) if relative else abs(x - y)
            worst = max(worst, distance)
            if distance > tolerance:
                different.append(f"launch {i}: {a['name'][:60]}: {x:,.6g} / {y:,.6g}")
        unit = "%" if relative else " points"
        self.row(title, not different if compared else None,
                 f"{compared} launches compared, {len(different)} beyond {tolerance * (100 if relative else 1):g}{unit}, "
                 f"worst {worst * (100 if relative else 1):.3g}{unit}" if compared else "nothing to compare", different)


def run(command, output=None, environment=None, fatal=True, limit=300):
    print("$ " + " ".join(map(str, command)), flush=True)
    start = time.monotonic()
    result = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE if output else None, text=True, timeout=limit, env=environment)
    if output:
        pathlib.Path(output).write_text(result.stdout)
    if result.returncode != 0 and fatal:
        sys.exit(f"check_device.py: the command above ended with {result.returncode}")
    return result.stdout or "", time.monotonic() - start, result.returncode


def rehearsal_fixture(folder):
    """Values that differ from kernel to kernel, so that a shifted join is seen."""
    kernels = [{"match": match, "metrics": {OCCUPANCY: 10.0 + i, TENSOR: 5.0 * i, READ: 3e8 + 1e6 * i, WRITE: 2e8 + 1e6 * i,
                                            "sm__cycles_active.avg": 1000.0 * (i + 1), TIME: 10000.0 * (i + 1)}}
               for i, match in enumerate(("flash_fwd", "fmha_cutlass", "softmax", "masked_fill", "elementwise", ".*"))]
    file = folder / "rehearsal_counters.json"
    file.write_text(json.dumps({"attnscope_fixture": 1, "note": "tests/gpu/check_device.py --rehearse", "kernels": kernels}))
    return file


def check_again(table, attnscope, real, out):
    """The stored counter data evaluated once more, where no GPU is visible."""
    copy = out / "again"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(real.folder, copy)
    before = {f.name: f.read_bytes() for f in copy.glob("*.counters.jsonl")}
    run([attnscope, "collect", "--evaluate", copy], environment={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, fatal=False)
    after = {f.name: f.read_bytes() for f in copy.glob("*.counters.jsonl")}
    table.row("stored counter data evaluated again", bool(before) and before == after,
              f"{len(before)} files, {sum(before[f] == after.get(f) for f in before)} equal byte by byte")


def check_ncu(table, real, text, l2):
    theirs, ours = read_ncu(text), real.kernels["counters"]
    table.resources("counters run against ncu: resources", ours, theirs)
    if len(ours) != len(theirs):
        return
    table.metric("against ncu: DRAM bytes (above 4 x L2)", ours, theirs, (READ, WRITE), BYTES_TOLERANCE, True, 4 * l2)
    table.metric("against ncu: warps active", ours, theirs, (OCCUPANCY,), POINTS_TOLERANCE, False)
    table.metric("against ncu: tensor pipe", ours, theirs, (TENSOR,), POINTS_TOLERANCE, False)


def ask_probe(table, build, out, environment, rehearsal):
    """What the documents leave open (the facts' U1 to U14): answers, not verdicts, but for what the collector relies on."""
    text, _, code = run([build / "tests/gpu/probe_cupti", HERE / "fixtures/probe_kernels.fatbin"], out / "probe.jsonl", environment, fatal=False)
    answers = {record["question"]: record["answer"] for record in records(out / "probe.jsonl")}
    table.row("probe_cupti", code == 0 and len(answers) > 10, f"{len(answers)} questions answered: {out / 'probe.jsonl'}")
    session = answers.get("session_a_launch", {})
    table.row("one session a launch holds one range", session.get("with_one_range") == session.get("sessions", -1),
              f"{session.get('with_one_range')} of {session.get('sessions')}, {session.get('us_per_launch', 0):.0f} us a launch, "
              f"image {session.get('image_bytes')} bytes", [session["error"]] if "error" in session else [])
    known = answers.get("known_bytes", {})
    for value in known.get("values", [])[1:2]:
        if value.get(READ) and not rehearsal:
            far = max(abs(value[n] - known["bytes_each_way"]) / known["bytes_each_way"] for n in (READ, WRITE))
            table.row("1 GiB read and written once", far <= BYTES_TOLERANCE, f"worst {100 * far:.2f}% from 1,073,741,824 bytes each way")


def keep_fixture(real, out):
    """The smallest process's raw data, config images and lines: what a test can evaluate without a GPU."""
    folder = out / "fixture"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "counters").mkdir(parents=True)
    for file in real.folder.glob("*.jsonl"):
        shutil.copy(file, folder)
    shutil.copy(real.folder / "run.json", folder)
    for file in (real.folder / "counters").glob("*"):
        if file.is_file() and file.stat().st_size <= 8 << 20:
            shutil.copy(file, folder / "counters")
    print(f"recorded data fit to become a fixture: {folder}")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", default="build")
    p.add_argument("-o", "--output", default="device-check")
    p.add_argument("--virtual", default="H200", help="the virtual GPU that stands for this one")
    p.add_argument("--rehearse", action="store_true")
    p.add_argument("shape", nargs="*", default=[], help="options of the attention workload, after --")
    o = p.parse_args()
    if not o.rehearse and not pathlib.Path("/dev/nvidiactl").exists():
        print("no NVIDIA GPU here: skipped")
        return 77
    build, out, table = pathlib.Path(o.build).resolve(), pathlib.Path(o.output).resolve(), Table()
    out.mkdir(parents=True, exist_ok=True)
    attnscope, workload = build / "bin/attnscope", build / "bin/attention_workload"
    device = f"virtual:{o.virtual}" if o.rehearse else "real"
    environment = {**os.environ, "ATTNSCOPE_VGPU_COUNTERS": str(rehearsal_fixture(out))} if o.rehearse else dict(os.environ)
    start = time.monotonic()

    _, _, code = run([attnscope, "doctor"], out / "doctor.txt", environment, fatal=False)
    table.row("doctor", None, f"exit code {code}: {out / 'doctor.txt'}")

    # Overhead: the whole program, start-up included, three ways.
    took = {}
    if not o.rehearse:
        took["bare"] = run([workload, *o.shape], out / "bare.txt")[1]
    _, took["activity"], _ = run([attnscope, "collect", "--force", "--device", device, "-o", out / "activity", "--", workload, *o.shape],
                                 out / "activity.txt", environment)
    _, took["counters"], _ = run([attnscope, "attention", "--device", device, "--counters", "core", "--timing", "separate", "-o", out / "real",
                                  *o.shape], out / "real.txt", environment)
    run([attnscope, "attention", "--device", f"virtual:{o.virtual}", "--counters", "none", "-o", out / "virtual", *o.shape], out / "virtual.txt")
    base = took.get("bare", took["activity"])
    table.row("overhead, whole program", None, ", ".join(f"{k} {v:.1f} s ({v / base:.2f}x)" for k, v in took.items()) +
              "; 'counters' is both runs and the report")

    real, virtual, plain = RunFolder(out / "real/run"), RunFolder(out / "virtual/run"), RunFolder(out / "activity")
    own = lambda kernels: [k for k in kernels if not library_chosen(k["name"])]
    counted = real.kernels["counters"]
    table.resources("activity run against counters run", plain.kernels["activity"], counted)
    table.resources("undisturbed run against counters run", real.kernels["activity"], counted)
    table.resources("real against predicted (LibTorch's kernels)", own(counted), own(virtual.kernels["activity"]))
    table.row("library-chosen kernels on real", None, f"{len(counted) - len(own(counted))} (cuBLAS, cuDNN): counted as calls on the virtual GPU")
    with_values = [k for k in counted if k["counters"]]
    table.row("launches with counter values", len(with_values) == len(counted) > 0, f"{len(with_values)} of {len(counted)}",
              [f"{d['code']}: {d['message']}" for d in real.diagnostics])
    ratios = [k["counters"][TIME] / a["time"] for k, a in zip(counted, real.kernels["activity"])
              if k["counters"].get(TIME) and a["time"]]
    if ratios:
        table.row("serialised against undisturbed time", None, f"median ratio {statistics.median(ratios):.3f} over {len(ratios)} launches")
    check_again(table, attnscope, real, out)

    l2 = max((d.get("l2_bytes", 0) for d in real.devices), default=0)
    if o.rehearse:
        (out / "ncu.csv").write_text(as_ncu(counted))
        check_ncu(table, real, (out / "ncu.csv").read_text(), l2)
    elif shutil.which("ncu"):
        metrics = ",".join(("launch__registers_per_thread", "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic",
                            OCCUPANCY, TENSOR, READ, WRITE, TIME, "sm__cycles_active.avg"))
        text, _, _ = run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--cache-control", "none", "--clock-control", "none",
                          "--metrics", metrics, workload, *o.shape], out / "ncu.csv", fatal=False)
        check_ncu(table, real, text, l2)
    else:
        table.row("ncu", False, "not installed: nothing was compared with it")
    ask_probe(table, build, out, environment_of_probe(o, build, environment), o.rehearse)
    keep_fixture(real, out)
    (out / "table.json").write_text(json.dumps(table.rows, indent=1))
    print(f"{time.monotonic() - start:.0f} s; the table: {out / 'table.json'}; {'all that was compared agrees' if table.good else 'SOMETHING DIFFERS'}")
    return 0 if table.good else 1


def environment_of_probe(o, build, environment):
    """The probe is no program under attnscope: on the virtual GPU it needs the stand-ins itself."""
    if not o.rehearse:
        return environment
    folder = build / "lib/attnscope/virtual_gpu"
    stand_ins = [str(f) for f in sorted(folder.glob("*.so*"))]
    return {**environment, "ATTNSCOPE_VIRTUAL_DEVICES": o.virtual, "LD_LIBRARY_PATH": str(folder), "LD_PRELOAD": ":".join(stand_ins)}


if __name__ == "__main__":
    sys.exit(main())
