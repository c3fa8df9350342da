"""formats.py FOLDER: holds every file in it against the published schema of its format. Exit code 77: the schemas are not here.

JUnit: the schema in pytest's source distribution. SARIF 2.1.0: OASIS's, as sarif-pydantic's source distribution has it. Ours: schema/."""
import json
import os
import sys
from pathlib import Path

folder = Path(sys.argv[1])
formats = Path(sys.prefix) / "share/formats"
try:
    import jsonschema
    from lxml import etree

    junit = etree.XMLSchema(etree.parse(formats / "junit-10.xsd"))
    sarif = json.loads((formats / "sarif-schema-2.1.0.json").read_text())
except (ImportError, OSError) as error:
    print(f"scripts/setup.sh fetches what is missing here (setup_python_tests): {error}")
    sys.exit(77)

own = Path(os.environ["ATTNSCOPE_SOURCE_DIR"]) / "schema"
json_schemas = {".sarif": sarif} | {
    f".{name}": json.loads((own / f"{name}.schema.json").read_text()) for name in ("verdict", "baseline")}
faults = checked = 0
for file in sorted(folder.iterdir()):
    if file.suffix == ".xml":
        document = etree.parse(file)
        found = [] if junit.validate(document) else [str(e) for e in junit.error_log]
    else:
        schema = json_schemas[file.suffix]
        validator = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())
        found = [f"{e.json_path}: {e.message}" for e in validator.iter_errors(json.loads(file.read_text()))]
    checked += 1
    faults += len(found)
    for fault in found:
        print(f"{file.name}: {fault[:500]}")
print(f"{checked} files, {faults} faults")
sys.exit(1 if faults or not checked else 0)
