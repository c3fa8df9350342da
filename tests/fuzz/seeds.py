#!/usr/bin/env python3
"""usage: seeds.py TARGET CORPUS [SAMPLES]   writes small seeds for a fuzz target: by hand, and cut out of real files where they are.

libFuzzer mutates small inputs best and runs them fastest, so a trace becomes a few events of each category, a table some rows, a database
a few rows of each table that the importer reads.
"""
import gzip, io, json, pathlib, sqlite3, sys, tarfile, tempfile

LARGEST = 2000
LARGEST_DATABASE = 8192  # run.sh has the same limit
DEVICE = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0, "numSms": 132, "warpSize": 32,
          "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 233472}
KERNEL = {"ph": "X", "cat": "kernel", "name": "flash_fwd_kernel", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2, "args": {
    "device": 0, "stream": 7, "correlation": 1, "External id": 3, "registers per thread": 168, "shared memory": 81920,
    "grid": [8, 8, 16], "block": [128, 1, 1], "est. achieved occupancy %": 0, "graph id": 0}}
OPERATION = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 9, "tid": 9, "ts": 1, "dur": 9, "args": {
    "External id": 3, "Input Dims": [[8, 16], []], "Input type": ["float", "Scalar"], "Input Strides": [[16, 1], []],
    "Concrete Inputs": ["", "1"]}}
CALL = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 2, "dur": 1, "args": {"correlation": 1}}
COPY = {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 4, "dur": 1, "args": {"bytes": 64, "correlation": 2}}
COUNTED = {"ph": "X", "cat": "cuda_profiler_range", "name": "gemm", "ts": 4, "dur": 1, "args": {"dram__bytes_read.sum": 12.5}}
RANGE = {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 9, "tid": 9, "ts": 0, "dur": 99}

NCU = '''==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","42","flash_fwd","7","(128, 1, 1)","(8, 8, 16)","0","9.0","GPU Speed Of Light Throughput","Memory Throughput","%","12.5"
"0","42","flash_fwd","7","(128, 1, 1)","(8, 8, 16)","0","9.0","x","dram__bytes_read.sum","Mbyte","10,192.5"
'''
NCU_RAW = '''"ID","Process ID","Kernel Name","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","launch__registers_per_thread","device__attribute_display_name"
"","","","","","","","Mbyte","register/thread",""
"0","42","flash_fwd","(128, 1, 1)","64","0","9.0","1,024.00 (512.00; 512.00)","168","NVIDIA H100"
'''
STATS = '''Time (%),Total Time (ns),Instances,Avg (ns),Name
99.0,600,3,200,"plain, kernel"

 Time (%)  Total Time (us)  Count  Operation
 --------  ---------------  -----  ------------------
     60.6            1,139      2  [CUDA memcpy HtoD]
     26.6              500      1  [CUDA memset]
'''
TABLES = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME",
          "NVTX_EVENTS", "StringIds", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"}


def trace(events, devices=(DEVICE,)):
    return json.dumps({"schemaVersion": 1, "deviceProperties": list(devices), "distributedInfo": {"rank": 1}, "traceEvents": events},
                      ensure_ascii=False).encode("utf-8", "surrogateescape")


def small_trace(text):
    whole = json.loads(text.decode("utf-8", "surrogateescape"))
    kept, seen = [], {}
    for event in whole.get("traceEvents", []):
        kind = event.get("cat", event.get("ph"))
        if seen.setdefault(kind, 0) < 2 and len(json.dumps(event)) < 600:
            seen[kind] += 1
            kept.append(event)
    whole["traceEvents"] = kept
    for key in ("deviceProperties", "computeProperties"):
        whole[key] = whole.get(key, [])[:1]
    return json.dumps(whole, ensure_ascii=False).encode("utf-8", "surrogateescape")[:LARGEST]


def database(source=None):
    """A few rows of each table; pages of 512 bytes keep it small."""
    with tempfile.NamedTemporaryFile() as file:
        to = sqlite3.connect(file.name)
        to.execute("PRAGMA page_size = 512")
        if source is None:
            to.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
            to.execute("INSERT INTO StringIds VALUES (1, 'flash_fwd'), (2, 'aten::mul, seq = 4, op_id = 9')")
            to.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, demangledName, "
                       "registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory)")
            to.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 0, 7, 1, 16777216, 1, 168, 8, 8, 16, 128, 1, 1, 0, 81920)")
            to.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, correlationId, globalTid)")
            to.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2, 1, 16777217)")
            to.execute("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, globalTid)")
            to.execute("INSERT INTO NVTX_EVENTS VALUES (0, 99, 59, 'step', NULL, 16777217), (1, 9, 59, NULL, 2, 16777217)")
            to.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, correlationId, globalPid, bytes, copyKind)")
            to.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (11, 12, 0, 2, 16777216, 64, 1)")
        else:
            have = sqlite3.connect(f"file:{source}?mode=ro&immutable=1", uri=True)
            for name, sql in have.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
                if name not in TABLES:
                    continue
                to.execute(sql)
                rows = have.execute(f'SELECT * FROM "{name}" LIMIT 2').fetchall()
                if rows:
                    rows = [tuple(c[:60] if isinstance(c, str) else c for c in row) for row in rows]
                    to.executemany(f'INSERT INTO "{name}" VALUES ({",".join("?" * len(rows[0]))})', rows)
        to.commit()
        to.close()
        return pathlib.Path(file.name).read_bytes()


def tar(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue().rstrip(b"\0") + bytes(1024)


def zstd(data):
    """A frame of one raw block: what is in it can be mutated."""
    size = len(data)
    return b"\x28\xb5\x2f\xfd\x60" + (size - 256).to_bytes(2, "little") + (1 | size << 3).to_bytes(3, "little") + data


def opened(file):
    data = file.read_bytes()
    return gzip.decompress(data) if file.suffix == ".gz" else data


def seeds(samples):
    """Target -> seeds."""
    events = [KERNEL, OPERATION, CALL, COPY, RANGE]
    out = {"pytorch": [trace(events), trace([COUNTED]), trace([OPERATION], ()), json.dumps([KERNEL, CALL]).encode()],
           "nsight-compute": [NCU.encode(), NCU_RAW.encode()], "nsys-stats": [STATS.encode()], "nsight-systems": [database()]}
    if samples:
        for file in sorted((samples / "kineto").glob("*.json*")):
            out["pytorch"].append(small_trace(opened(file)))
        for file in sorted((samples / "ncu").glob("*.[ct][sx][vt]")):
            out["nsight-compute"].append(file.read_bytes()[:LARGEST])
        for file in sorted((samples / "nsys").iterdir()):
            if file.suffix == ".sqlite":
                out["nsight-systems"].append(database(file))
            else:
                out["nsys-stats"].append(file.read_bytes()[:LARGEST])
    small = trace([KERNEL, CALL])
    out["file"] = [seed for target in list(out.values()) for seed in target if len(seed) < 2 * LARGEST] + [
        gzip.compress(small, mtime=0), gzip.compress(zstd(small), mtime=0), tar([("rank0.json", small), ("notes.txt", b"words")]),
        gzip.compress(tar([("a.json.gz", gzip.compress(small, mtime=0)), ("long/" * 30 + "b.csv", NCU.encode())]), mtime=0),
        zstd(small), b"NVR\0\2\0\0\0", b"QDSTRM", b"version https://git-lfs.github.com/spec/v1\n"]
    out["nsight-systems"] = [seed for seed in out["nsight-systems"] if len(seed) <= LARGEST_DATABASE]
    return out


def main():
    target, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    samples = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 and (pathlib.Path(sys.argv[3]) / "expected.tsv").exists() else None
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(samples)[target]):
        (corpus / f"seed-{number}").write_bytes(seed)


main()
