"""The pages to be looked at: `attnscope report` of the run in examples/report and of what can be made of it, of the counted fixture
runs, and the sample reports that the renderer's own tests use."""
import json
import os
import pathlib
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
