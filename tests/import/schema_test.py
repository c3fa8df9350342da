"""usage: schema_test.py ATTNSCOPE SCHEMA FILE...   imports each file and holds every line that is written against the schema."""
import json, pathlib, subprocess, sys, tempfile

try:
    import jsonschema
except ImportError:
    print("no jsonschema: scripts/setup.sh installs it")
    sys.exit(77)


def faults(run, schema):
    whole = jsonschema.Draft202012Validator(schema)
    summary = jsonschema.Draft202012Validator({**schema["$defs"]["run"], "$defs": schema["$defs"]})
    yield from (("run.json", e.message) for e in summary.iter_errors(json.loads((run / "run.json").read_text())))
    for file in run.glob("*.jsonl"):
        if file.name.endswith(".counters.jsonl"):
            continue
        for number, text in enumerate(file.read_text().splitlines(), 1):
            line = json.loads(text)
            record = schema["$defs"].get(line.get("type"), {"properties": {}})
            unknown = set(line) - set(record["properties"])
            yield from ((f"{file.name}:{number}", e.message) for e in whole.iter_errors(line))
            if unknown:
                yield f"{file.name}:{number}", f"fields that the schema does not name: {sorted(unknown)}"


def main():
    tool, schema = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text())
    found = 0
    for file in sys.argv[3:]:
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder) / "run"
            subprocess.run([tool, "import", file, "-o", run], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for place, message in faults(run, schema):
                found += 1
                print(f"{file}: {place}: {message}")
    sys.exit(1 if found else 0)


main()
