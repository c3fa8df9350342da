# usage: nsight_compute_report.py FILE.ncu-rep   prints the report as the CSV of Nsight Compute's raw page (a column a metric, a row of units),
# through NVIDIA's own reader (PyPI: ncu-report). Exit code 3: the package is missing; 4: the report cannot be read.
import sys

sys.path[:] = [folder for folder in sys.path if folder]  # under -c the first is the user's current folder: no code is taken from there
import csv

try:
    import ncu_report
except ImportError as error:
    print(error)
    sys.exit(3)


def actions(context):
    for r in range(context.num_ranges()):
        found = context.range_by_idx(r)
        for a in range(found.num_actions()):
            yield found.action_by_idx(a)


def number(action, name):
    metric = action.metric_by_name(name)
    return "" if metric is None else metric.value()


def size(action, of):
    return "(%s)" % ", ".join(str(number(action, "launch__%s_dim_%s" % (of, axis))) for axis in "xyz")


def cell(action, name):
    metric = action.metric_by_name(name)
    value = None if metric is None else metric.value()
    return "" if value is None else value if isinstance(value, str) else repr(value)


def main():
    try:
        context = ncu_report.load_report(sys.argv[1])
        if context is None or context.num_ranges() == 0:
            print("no range of work is in it")
            sys.exit(4)
    except Exception as error:
        print(str(error).splitlines()[0] if str(error) else type(error).__name__)
        sys.exit(4)
    units = {}
    for action in actions(context):
        for name in action.metric_names():
            if "__" in name and not name.startswith("breakdown:"):
                units.setdefault(name, action.metric_by_name(name).unit() or "")
    names = sorted(units)
    out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL, lineterminator="\n")
    out.writerow(["ID", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"] + names)
    out.writerow([""] * 8 + [units[name] for name in names])
    for i, action in enumerate(actions(context)):
        capability = [str(number(action, "device__attribute_compute_capability_" + part)) for part in ("major", "minor")]
        out.writerow([i, action.name(action.NameBase_DEMANGLED), number(action, "launch__context_id"), number(action, "launch__stream_id"),
                      size(action, "block"), size(action, "grid"), number(action, "launch__device_id"), ".".join(capability)]
                     + [cell(action, name) for name in names])


main()
