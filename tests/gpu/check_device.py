#!/usr/bin/env python3
"""Holds attnscope against a real GPU and against Nsight Compute, in a few minutes, from binaries that are built already.

    tests/gpu/check_device.py [--build build] [-o out] [--virtual H200] [--rehearse]

Runs the attention workload three times: collected on the real GPU, collected on the virtual GPU of the same kind, and
under `ncu`. Prints a table of what agrees, launch by launch, and exits 0 when grid, block, registers and shared memory
of every kernel of LibTorch's own are equal in all three; 77 where there is no GPU (ctest: skipped). --rehearse takes a
second virtual run in the place of the real one: it proves the script, not the product.
"""
import argparse
import csv
import json
import pathlib
import shutil
import subprocess
import sys

FIELDS = ("grid", "block", "registers", "static_shared", "dynamic_shared")
# Kernels that cuBLAS and cuDNN choose on a real GPU: the virtual one records the call, not the kernel.
LIBRARY = ("cublas", "cutlass_80_", "cudnn", "xmma", "nvjet", "gemm", "splitK", "sm80_", "sm90_", "sm100_")


def library_chosen(name):
    return "pytorch" not in name and "at::" not in name and "_ZN2at" not in name and any(word in name for word in LIBRARY)


def read_run(folder):
    """The kernels of a run in the order of issue, as dictionaries."""
    kernels = []
    for file in sorted(pathlib.Path(folder).glob("*.jsonl")):
        names, ours = {}, []
        for line in file.read_text(errors="replace").splitlines():
            record = json.loads(line)
            if record["type"] == "name":
                names[record["id"]] = record["name"]
            elif record["type"] == "kernel":
                ours.append({
                    "correlation": record["correlation"], "name": names[record["name"]],
                    "grid": tuple(record[f"grid_{a}"] for a in "xyz"), "block": tuple(record[f"block_{a}"] for a in "xyz"),
                    "registers": record.get("registers"), "static_shared": record.get("static_shared", 0),
                    "dynamic_shared": record.get("dynamic_shared", 0)})
        kernels += sorted(ours, key=lambda k: k["correlation"])
    return kernels


def read_ncu(text):
    """`ncu --csv --page raw --print-units base`: a header, a row of units, a row a kernel."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    rows = list(csv.DictReader(lines[start:]))
    triple = lambda text: tuple(int(part) for part in text.strip("() ").split(","))
    number = lambda text: int(float(text.replace(",", "")))
    return [{"name": row["Kernel Name"], "grid": triple(row["Grid Size"]), "block": triple(row["Block Size"]),
             "registers": number(row["launch__registers_per_thread"]),
             "static_shared": number(row["launch__shared_mem_per_block_static"]),
             "dynamic_shared": number(row["launch__shared_mem_per_block_dynamic"])} for row in rows if row["ID"]]


def compare(title, left, right):
    """Pairs the two sequences by position; returns whether all agree."""
    different = []
    for i, (a, b) in enumerate(zip(left, right)):
        wrong = [f"{field} {a[field]} / {b[field]}" for field in FIELDS if a[field] != b[field]]
        if wrong:
            different.append(f"  launch {i}: {a['name'][:70]}: {', '.join(wrong)}")
    missing = abs(len(left) - len(right))
    equal = min(len(left), len(right)) - len(different)
    print(f"{title:<28} {len(left):>5} {len(right):>5} launches, {equal:>5} equal, {len(different):>4} differ, {missing:>4} unpaired")
    print("\n".join(different[:20]))
    return not different and not missing and len(left) > 0


def run(command, output=None):
    print("$ " + " ".join(map(str, command)), flush=True)
    result = subprocess.run(command, stdout=subprocess.PIPE if output else None, text=True, timeout=300)
    if output:
        pathlib.Path(output).write_text(result.stdout)
    if result.returncode != 0:
        sys.exit(f"check_device.py: the command above ended with {result.returncode}")
    return result.stdout


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
    build, out = pathlib.Path(o.build), pathlib.Path(o.output)
    out.mkdir(parents=True, exist_ok=True)
    real_device = f"virtual:{o.virtual}" if o.rehearse else "real"
    for name, device in (("real", real_device), ("virtual", f"virtual:{o.virtual}")):
        run([build / "bin/attnscope", "attention", "--device", device, "-o", out / name, *o.shape], out / f"{name}.txt")
    real, virtual = read_run(out / "real/run"), read_run(out / "virtual/run")
    own = lambda kernels: [k for k in kernels if not library_chosen(k["name"])]
    good = compare("real against virtual", own(real), own(virtual))
    print(f"{'library-chosen on real':<28} {len(real) - len(own(real)):>5} launches (cuBLAS, cuDNN): counted as calls on the virtual GPU")
    if shutil.which("ncu"):
        metrics = "launch__registers_per_thread,launch__shared_mem_per_block_static,launch__shared_mem_per_block_dynamic"
        text = run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--cache-control", "none", "--clock-control",
                    "none", "--metrics", metrics, build / "bin/attention_workload", *o.shape], out / "ncu.csv")
        good &= compare("real against ncu", real, read_ncu(text))
    else:
        print("ncu is not installed: not compared with it")
        good &= o.rehearse
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
