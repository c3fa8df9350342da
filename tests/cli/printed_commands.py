"""Runs every command that a help text, the README, a report or a command itself prints, as it is printed.

    printed_commands.py BIN_DIR SOURCE_DIR PYTHON LIBTORCH_CUDA

In a network namespace without a network where the kernel allows one: no verb needs it. One folder for all, so that what one
command writes the next can read, as for a person who follows the text."""
import html
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

# A command that needs a GPU says so on a machine without one, with an exit code that is not 0.
NEEDS_GPU = re.compile(r"--device real\b")
NO_GPU_CODES = (2, 125)
# Printed, and not run here: they set up and build for minutes, and have runs of their own in CI.
SET_UP = ("examples/demo.sh", "tests/run.sh")
SECONDS = 300

TRAIN = """import torch
print(torch.ones(4, device="cuda").sum().shape)
"""


class Commands:
    """What was printed, by where: each once."""

    def __init__(self):
        self.where = {}

    def add(self, command, where):
        command = " ".join(command.split()) if "'" not in command and "\\\n" not in command else command.strip()
        if command and command not in self.where:
            self.where[command] = where
            return command
        return None


def of_readme(text):
    """Indented blocks, and inline code that is a whole command: no placeholder in capitals, no brackets."""
    for line in text.splitlines():
        if re.match(r"    (attnscope|examples/|tests/)\S* ?", line):
            yield line.split("  #")[0].split(" # ")[0].strip()
    for code in re.findall(r"`(attnscope [^`\n]+)`", text):
        words = code.split()
        if not any(re.fullmatch(r"[A-Z][A-Z0-9.]*", w) for w in words) and not re.search(r"[\[\]|\\]|\.\.\.", code):
            yield code


def of_help(text):
    return re.findall(r"^Example: (.*)$", text, re.M)


def of_markdown(text):
    yield from re.findall(r"\*\*next\*\*:\s+`(attnscope [^`]+)`", text)
    for block in re.findall(r"^```+sh\n(.*?)^```", text, re.M | re.S):
        yield from block.splitlines()


def of_terminal(text):
    """"Next: ...", continued as a shell continues a line."""
    for found in re.finditer(r"^ *[Nn]ext: (attnscope .*(?:(?<=\\)\n.*)*)$", text, re.M):
        yield found.group(1)
    yield from re.findall(r"read it with: (attnscope .*)$", text, re.M)
    yield from re.findall(r"^To accept it: (attnscope .*)$", text, re.M)


def of_html(text):
    """As a person copies it from the page: with the lines that a shell joins."""
    for code in re.findall(r"<pre><code>(attnscope .*?)</code></pre>", text, re.S):
        yield html.unescape(code)


class Session:
    def __init__(self, bin_dir, source, python):
        self.bin_dir, self.source = pathlib.Path(bin_dir), pathlib.Path(source)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attnscope-printed-"))
        self.environment = dict(os.environ, PATH=f"{self.bin_dir}:{pathlib.Path(python).parent}:{os.environ['PATH']}",
                                TERM="dumb")
        self.environment.pop("ATTNSCOPE_CACHE", None)
        self.failures, self.ran = [], 0
        self.commands = Commands()

    def prepare(self, torch_library):
        """The files that the printed commands name."""
        write_blog = self.bin_dir.parent / "tests/analysis/write_blog_run"
        for name, ground in (("run", "virtual"), ("PREDICTED", "virtual"), ("MEASURED", "real")):
            subprocess.run([write_blog, self.folder / name, ground], check=True)
        for number in range(1, 6):
            shutil.copytree(self.folder / "MEASURED", self.folder / f"out/run{number}")
        (self.folder / "train.py").write_text(TRAIN)
        for side in ("base", "head"):
            bench = self.folder / side / "bench"
            bench.parent.mkdir()
            bench.write_text("#!/bin/sh\nexec python3 train.py\n")
            bench.chmod(0o755)
        shutil.copy("/bin/true", self.folder / "program")
        shutil.copy(self.source / "examples/ci/gate.toml", self.folder / "gate.toml")
        trace = '{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, ' \
                '"dur": 2, "args": {"device": 0, "stream": 7, "correlation": 1, "grid": [1, 1, 1], "block": [32, 1, 1], ' \
                '"registers per thread": 16, "shared memory": 0}}]}'
        subprocess.run(["gzip", "-c"], input=trace.encode(), stdout=open(self.folder / "trace.json.gz", "wb"), check=True)
        if torch_library.exists():
            (self.folder / "libtorch_cuda.so").symlink_to(torch_library)

    def shell(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True, capture_output=True,
                              timeout=SECONDS, errors="replace", stdin=subprocess.DEVNULL)

    def run(self, command, where):
        """Its output; a command that was printed before has run already."""
        command = self.commands.add(command, where)
        if command is None:
            return ""
        if command.startswith(SET_UP):
            script = self.source / shlex.split(command)[0]
            if not os.access(script, os.X_OK):
                self.failures.append(f"{where}: {script} is no program")
            return ""
        self.ran += 1
        # Two texts may name the same new folder; a run is replaced only where that is asked for.
        new = re.match(r"attnscope (?:collect|import) .*?-o (\S+)", command)
        if new:
            shutil.rmtree(self.folder / new.group(1), ignore_errors=True)
        done = self.shell(command)
        right = done.returncode in NO_GPU_CODES and "GPU" in done.stderr if NEEDS_GPU.search(command) else done.returncode == 0
        print(f"{'ok' if right else 'FAILED'} {done.returncode} {where}: {command}", flush=True)
        if not right:
            self.failures.append(f"{where}: {command}\n  exit code {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
        return done.stdout + done.stderr

    def follow(self, commands, where):
        """Runs them and what they print themselves, once: what those print is of the same kind."""
        for command in commands:
            printed = self.run(command, where)
            for further in list(of_terminal(printed)):
                self.run(further, f"printed by {command[:60]}")


def without_network():
    """Starts this program again where there is no network; returns where that is not allowed."""
    if os.environ.get("ATTNSCOPE_PRINTED_INSIDE"):
        return True
    if shutil.which("unshare") and subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0:
        os.environ["ATTNSCOPE_PRINTED_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "-rn", sys.executable, *sys.argv])
    return False


def main():
    bin_dir, source, python, torch_library = sys.argv[1:5]
    source = pathlib.Path(source)
    print("without a network" if without_network() else "with the network: no network namespace is permitted here")
    session = Session(bin_dir, source, python)
    try:
        session.prepare(pathlib.Path(torch_library))
        top = session.shell("attnscope --help").stdout
        verbs = re.findall(r"^  (\w+)  +\S", top[top.index("ubcommands:"):], re.M)
        if len(verbs) < 5:
            sys.exit(f"attnscope --help lists {verbs}:\n{top}")
        # The job that writes what the others read comes first.
        examples = [command for verb in verbs for command in of_help(session.shell(f"attnscope {verb} --help").stdout)]
        if len(examples) != len(verbs):
            sys.exit(f"{len(verbs)} commands, {len(examples)} examples in their help")
        gate = [c for c in examples if c.startswith("attnscope gate")]
        session.follow([c for c in examples if c not in gate], "--help")
        readme = list(of_readme((source / "README.md").read_text()))
        if len(readme) < 8:
            sys.exit(f"the README prints only {readme}")
        session.follow(readme, "README.md")
        # gate's example names the run that the README's baseline is of.
        shutil.rmtree(session.folder / "run", ignore_errors=True)
        shutil.copytree(session.folder / "out/run", session.folder / "run")
        session.follow(gate, "--help")
        for run in ("out/run", "PREDICTED", "MEASURED"):
            page = session.shell(f"attnscope report {run} --format md").stdout
            commands = list(of_markdown(page))
            if not commands:
                session.failures.append(f"the report of {run} prints no command")
            session.follow(commands, f"report {run}")
            copied = list(of_html(session.shell(f"attnscope report {run} --format html").stdout))
            # The same ones, in lines: each runs once, joined as a shell joins them.
            joined = [" ".join(command.replace("\\\n", " ").split()) for command in copied]
            session.failures += [f"the HTML report of {run} alone prints {one}" for one in joined if one not in session.commands.where]
            in_lines = [command for command in copied if "\\\n" in command]
            if len(commands) < 10 or not in_lines:
                session.failures.append(f"the report of {run} prints {commands}; in lines {in_lines}")
            session.follow(in_lines[:3], f"HTML report {run}")
        for command in ("attnscope report out/run --details", "attnscope compare PREDICTED MEASURED"):
            printed = session.shell(command).stdout
            session.follow(of_terminal(printed), command)
    finally:
        shutil.rmtree(session.folder, ignore_errors=True)
    print(f"{session.ran} commands ran, {len(session.failures)} failed")
    if session.failures:
        sys.exit("\n\n".join(session.failures))


main()
