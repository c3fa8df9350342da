"""The pages to be looked at: `attnscope report` of the run in examples/report and of what can be made of it, of the counted fixture
runs, and the sample reports that the renderer's own tests use."""
import copy
import json
import os
import pathlib
import re
import subprocess

LAUNCHES = {"kernel", "memcpy", "memset", "library_call"}
HOSTILE = ("<script>document.title='run by a name'</script><img src=https://evil.example/x onerror=\"document.title='run by a name'\">"
           "</code></summary></details></table></main><style>*{display:none}</style>\u202eevil ]]>-->'\"`" + "k" * 3000)


class Pages:
    def __init__(self, folder, source, binaries):
        self.folder, self.example = pathlib.Path(folder), pathlib.Path(source) / "examples/report/a100/run"
        self.attnscope, self.write_blog_run, self.render_sample = (
            os.path.join(binaries, name) for name in ("bin/attnscope", "tests/analysis/write_blog_run", "tests/reports/render_sample"))

    def make(self):
        pages = {"example": self.report("example", self.example)}
        for name, of in {"nothing": self.drop(LAUNCHES), "one-kernel": self.one_kernel, "hostile-run": self.hostile,
                         "unknown-device": self.unknown_device}.items():
            pages[name] = self.report(name, self.changed(name, of))
        pages["counted"] = self.report("counted", self.counted())
        for name, options in {"measured": ["real", "counters"], "fixture": ["virtual", "counters"], "times": ["real"]}.items():
            run = self.folder / f"{name}-run"
            subprocess.run([self.write_blog_run, run, *options], check=True)
            pages[name] = self.report(name, run)
        samples = self.folder / "samples"
        samples.mkdir()
        subprocess.run([self.render_sample, samples], check=True, stdout=subprocess.DEVNULL)
        for name in ("empty", "hostile", "large", "missing"):
            pages[f"sample-{name}"] = samples / f"{name}.html"
        return pages

    def report(self, name, run):
        page = self.folder / f"{name}.html"
        subprocess.run([self.attnscope, "report", run, "--format", "html", "-o", page], check=True, stderr=subprocess.DEVNULL)
        return page

    def changed(self, name, change):
        """The example's run with its records changed."""
        run = self.folder / f"{name}-run"
        run.mkdir()
        (run / "run.json").write_text((self.example / "run.json").read_text())
        source = next(self.example.glob("*.jsonl"))
        records = [json.loads(line) for line in source.read_text().splitlines() if line]
        records = change(records)
        for kind in ("kernel", "memcpy", "memset", "library_call"):
            records[-1][kind + "s"] = sum(record["type"] == kind for record in records)
        (run / source.name).write_text("".join(json.dumps(record) + "\n" for record in records))
        return run

    def counted(self):
        """The example's run as a real GPU's would be: no library calls but their kernels, five iterations, times, and a second
        collection with counters. The numbers are made up; their count is not, and it is what a page's size depends on."""
        def real(records, times):
            out, end = [], 10**9
            for record in records:
                record = dict(record)
                if record["type"] in ("process", "device"):
                    record["ground"] = "real"
                if record["type"] == "process":
                    record["collection"] = "activity" if times else "counters"
                if record["type"] == "device":
                    record["chip"] = "GA100"
                if record["type"] == "library_call":
                    kept = {key: record[key] for key in ("correlation", "device", "stream", "thread", "range", "op", "op_call") if key in record}
                    name = 97 if record["library"] == "cuDNN" else 99 if "Sgemm" in record["function"] else 98
                    record = {"type": "kernel", "name": name, "context": 1, **kept,
                              "grid_x": 8, "grid_y": 8, "grid_z": 128, "block_x": 128, "block_y": 1, "block_z": 1, "registers": 122,
                              "static_shared": 0, "dynamic_shared": 49152, "local_per_thread": 0}
                if times and record["type"] in ("kernel", "memcpy"):
                    record["start_ns"], end = end, end + 1000 * (151 + 37 * len(out) % 89)
                    record["end_ns"] = end
                out.append(record)
            out[1:1] = [{"type": "name", "id": 97,
                         "name": "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_3_64x64x64_4x1x1_cga1x1x1_kernel0_0"},
                        {"type": "name", "id": 98, "name": "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"},
                        {"type": "name", "id": 99, "name": "ampere_sgemm_128x64_tn"}]
            return out

        def repeated(records, times):
            """Each iteration four more times, under numbers of their own."""
            out, ids, next_id = [], {}, 10**6
            for record in records:
                out.append(record)
                if record["type"] == "range" and record["name"] == "attnscope.iteration":
                    ids[record["id"]] = [record]
                elif record.get("range") in ids:
                    ids[record["range"]].append(record)
                elif record["type"] == "range_end" and record["id"] in ids:
                    for _ in range(times - 1):
                        next_id += 1
                        for one in map(copy.copy, ids[record["id"]] + [record]):
                            one["id" if one["type"].startswith("range") else "range"] = next_id
                            if "correlation" in one:
                                one["correlation"] += next_id * 1000
                            out.append(one)
            return out

        run = self.folder / "counted-run"
        (run / "code").mkdir(parents=True)
        (run / "code/kernels.jsonl").write_text((self.example / "code/kernels.jsonl").read_text())
        about = json.loads((self.example / "run.json").read_text())
        about.update(ground="real", collections=["counters", "activity"],
                     counters={"request": "core", "metrics": [], "range": "kernel", "replay": False, "passes": {"GA100": 1}})
        (run / "run.json").write_text(json.dumps(about))
        records = [json.loads(line) for line in next(self.example.glob("*.jsonl")).read_text().splitlines() if line]
        # Kernels stand where they are known, not where their range is: by range first.
        launches = [record for record in records if record["type"] in LAUNCHES]
        ordered = []
        for record in records:
            if record["type"] == "range_end":
                ordered += [one for one in launches if one.get("range") == record["id"]]
            if record["type"] not in LAUNCHES:
                ordered.append(record)
        for name, times in (("a-1-1.jsonl", False), ("b-2-2.jsonl", True)):
            made = real(repeated(ordered, 5), times)
            for kind in ("kernel", "memcpy", "memset", "library_call"):
                made[-1][kind + "s"] = sum(record["type"] == kind for record in made)
            (run / name).write_text("".join(json.dumps(record) + "\n" for record in made))
        metrics = {"dram__bytes_read.sum": (50331648, 201326592), "dram__bytes_write.sum": (16777216, 100663296),
                   "sm__warps_active.avg.pct_of_peak_sustained_active": (11.7, 88.1), "sm__cycles_active.avg": (203417, 211733),
                   "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": (43.4, 0), "gpu__time_duration.sum": (163840, 180224)}
        fused = {record["id"] for record in made if record["type"] == "name" and re.search("flash_fwd|fmha|fprop", record["name"])}
        counters = [{"type": "counters", "schema": "attnscope-counters", "version": "1.0", "attnscope": "0.1.0", "process": "a-1-1.jsonl",
                     "ground": "real", "cupti": 130000, "data_crc32": 1}]
        counters += [{"type": "metric", "id": id, "name": name, "chip": "GA100"} for id, name in enumerate(metrics, 1)]
        kernels = [(record["correlation"], record["name"] not in fused) for record in made if record["type"] == "kernel"]
        counters += [{"type": "counter", "correlation": kernel, "metric": id, "value": value[kind] + 97 * (at % 7) * (value[kind] > 1000)}
                     for at, (kernel, kind) in enumerate(kernels) for id, value in enumerate(metrics.values(), 1)]
        counters.append({"type": "end", "images": 1, "counters": len(counters) - len(metrics) - 1, "unjoined": 0})
        (run / "a-1-1.counters.jsonl").write_text("".join(json.dumps(record) + "\n" for record in counters))
        return run

    @staticmethod
    def drop(kinds):
        return lambda records: [record for record in records if record["type"] not in kinds]

    @staticmethod
    def one_kernel(records):
        last = [record for record in records if record["type"] == "kernel"][-1]
        return [record for record in records if record["type"] not in LAUNCHES or record is last]

    @staticmethod
    def hostile(records):
        for record in records:
            if record["type"] in ("name", "operation", "library", "device"):
                record["name"] = HOSTILE + record["name"]
        return records

    @staticmethod
    def unknown_device(records):
        for record in records:
            if record["type"] == "device":
                for key in [key for key in record if key not in ("type", "device", "ground")]:
                    del record[key]
                record["name"] = "Some Accelerator 9000"
        return records
