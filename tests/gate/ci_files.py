"""The workflows of examples/ci: valid by GitHub's and GitLab's published schemas (check-jsonschema carries them), and their shell parts
run as they are written, in a folder as a runner makes it. What only a runner or a network has (gh, curl, apt-get, git clone, cmake's build) is
a stand-in that records how it was called."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

source = Path(os.environ["ATTNSCOPE_SOURCE_DIR"])
build = Path(os.environ["ATTNSCOPE_BINARY_DIR"])
checker = Path(sys.prefix) / "bin/check-jsonschema"
cache = Path(sys.prefix).parent
try:
    from ruamel.yaml import YAML
except ImportError:
    checker = Path("/nowhere")
if not checker.exists():
    print("scripts/setup.sh fetches check-jsonschema (setup_python_tests)")
    sys.exit(77)

STAND_INS = {
    "dpkg-query": "echo installed",
    "apt-get": 'echo "apt-get $*" >> "$CALLS"',
    "cmake": 'all="$*"; echo "cmake $all" >> "$CALLS"\n'
             'case "$all" in *--version*) echo cmake version 3.25.1;; *" -B "*) b="${all#* -B }"; b="${b%% *}"; mkdir -p "$b";'
             ' [ -e "$b/bin" ] || ln -s "$REAL_BUILD/bin" "$b/bin";; esac',
    "git": 'echo "git $*" >> "$CALLS"\nfor last; do :; done\nmkdir -p "$last" && ln -s "$REAL_SOURCE"/* "$last"',
    "curl": 'echo "curl $*" >> "$CALLS"\ncase "$*" in *per_page*) cat "$COMMENTS";; esac',
    "gh": 'echo "gh $*" >> "$CALLS"\ncase "$*" in *--paginate*) cat "$COMMENTS";; esac',
}


class Runner(unittest.TestCase):
    """A folder as a runner makes it, with the stand-ins first in PATH."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="attnscope-ci-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.work = self.root / "work"
        self.work.mkdir()
        for name, body in STAND_INS.items():
            stand_in = self.root / "bin" / name
            stand_in.parent.mkdir(exist_ok=True)
            stand_in.write_text(f"#!/bin/bash\n{body}\n")
            stand_in.chmod(0o755)
        self.environment = os.environ | {
            "PATH": f"{self.root}/bin:{os.environ['PATH']}", "CALLS": f"{self.root}/calls", "REAL_BUILD": str(build),
            "REAL_SOURCE": str(source), "ATTNSCOPE_CACHE": str(cache), "ATTNSCOPE_NO_PACKAGES": "1"}
        for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "ATTNSCOPE", "ATTNSCOPE_BUILD"):
            self.environment.pop(name, None)

    def shell(self, script, **variables):
        """As a runner runs it: bash -eo pipefail."""
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=self.work, env=self.environment | variables,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout}{done.stderr}")
        return done.stdout

    def calls(self):
        calls = (self.root / "calls").read_text().splitlines()
        (self.root / "calls").unlink()
        return calls

    def is_set_up(self):
        """The downloads of an earlier set-up: no test fetches 500 MB."""
        version = "%d.%d" % sys.version_info[:2]
        if not any((cache / f".done-torch-2.11.0{kind}-{version}").exists() for kind in ("", "-gpu")):
            self.skipTest("LibTorch was not fetched by scripts/setup.sh")

    def check_set_up_calls(self, calls):
        configured = [c for c in calls if "--preset" in c]
        self.assertEqual(len(configured), 1, calls)
        self.assertIn("-DATTNSCOPE_BUILD_TESTS=OFF", configured[0])
        self.assertTrue(any("--build" in c and "--target product" in c for c in calls), calls)

    def check_results(self, folder):
        tag = "<!-- attnscope:id=gate -->"
        self.assertEqual((folder / "comment.md").read_text().splitlines()[0], tag)
        self.assertEqual(json.loads((folder / "verdict.json").read_text())["exit_code"], 0)
        self.assertIn("<testsuites>", (folder / "junit.xml").read_text())
        self.assertEqual(json.loads((folder / "results.sarif").read_text())["version"], "2.1.0")


class GitHub(Runner):
    def setUp(self):
        super().setUp()
        self.job = YAML(typ="safe").load(source / "examples/ci/github.yml")["jobs"]["gate"]

    def step(self, name):
        return next(s["run"] for s in self.job["steps"] if s.get("name") == name)

    def test_is_valid(self):
        subprocess.run([checker, "--builtin-schema", "vendor.github-workflows", source / "examples/ci/github.yml"], check=True)

    def test_sets_up(self):
        self.is_set_up()
        (self.work / "attnscope").mkdir()
        for name in ("scripts", "examples", "CMakePresets.json"):
            (self.work / "attnscope" / name).symlink_to(source / name)
        self.shell(self.step("Set attnscope up"))
        self.check_set_up_calls(self.calls())

    def test_gates_in_less_than_a_minute(self):
        (self.work / "attnscope").mkdir()
        (self.work / "attnscope/examples").symlink_to(source / "examples")
        (self.work / "attnscope/build").symlink_to(build)
        begin = time.monotonic()
        out = self.shell(self.step("Gate"), GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=f"{self.root}/summary.md")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertTrue(out.startswith("PASSED: "), out)
        self.check_results(self.work / "gate")
        self.assertEqual((self.root / "summary.md").read_text(), (self.work / "gate/comment.md").read_text())

    def test_comments_once_then_in_place(self):
        (self.work / "gate").mkdir()
        (self.work / "gate/comment.md").write_text("<!-- attnscope:id=gate -->\n### attnscope gate\n")
        comments = self.root / "comments"
        variables = {"COMMENTS": str(comments), "PR": "7", "GITHUB_REPOSITORY": "owner/name", "GH_TOKEN": "x"}
        comments.write_text(json.dumps([{"id": 1, "body": "hello"}, {"id": 2, "body": "<!-- attnscope:id=other -->\nx"}]))
        self.shell(self.step("Comment"), **variables)
        self.assertEqual(self.calls()[-1], "gh pr comment 7 --body-file gate/comment.md")
        comments.write_text(json.dumps([{"id": 1, "body": "hello"}, {"id": 3, "body": "<!-- attnscope:id=gate -->\nold"}]))
        self.shell(self.step("Comment"), **variables)
        calls = self.calls()
        self.assertEqual(calls[-1], "gh api --method PATCH repos/owner/name/issues/comments/3 -F body=@gate/comment.md")
        self.assertEqual(len(calls), 2)


class GitLab(Runner):
    def setUp(self):
        super().setUp()
        self.job = YAML(typ="safe").load(source / "examples/ci/gitlab.yml")["attention-gate"]

    def test_is_valid(self):
        subprocess.run([checker, "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci",
                        source / "examples/ci/gitlab.yml"], check=True)

    def test_sets_up_and_gates(self):
        self.is_set_up()
        # The runner's own variables; the cache is the one that is there.
        variables = {"ATTNSCOPE_URL": "https://example.org/attnscope.git",
                     "ATTNSCOPE_BUILD": self.job["variables"]["ATTNSCOPE_BUILD"].replace("$CI_PROJECT_DIR", str(self.work))}
        (self.work / ".cache").mkdir()
        self.shell("\n".join(self.job["before_script"]), **variables)
        calls = self.calls()
        self.assertIn("git clone --depth 1 https://example.org/attnscope.git attnscope", calls)
        self.check_set_up_calls(calls)
        self.shell("\n".join(self.job["script"]), **variables)
        self.check_results(self.work / "gate")

    def test_comments_once_then_in_place(self):
        (self.work / "gate").mkdir()
        (self.work / "gate/comment.md").write_text("<!-- attnscope:id=gate -->\n### attnscope gate\n")
        comments = self.root / "comments"
        comments.write_text(json.dumps([{"id": 1, "body": "hello"}]))
        variables = {"COMMENTS": str(comments), "CI_API_V4_URL": "https://gitlab/api/v4", "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "7"}
        script = "\n".join(self.job["after_script"])
        self.shell(script, **variables)
        self.assertFalse((self.root / "calls").exists(), "without a token nothing is sent")
        variables["ATTNSCOPE_GITLAB_TOKEN"] = "t"
        notes = "https://gitlab/api/v4/projects/5/merge_requests/7/notes"
        self.shell(script, **variables)
        self.assertTrue(self.calls()[-1].endswith(f"--request POST --data-urlencode body@gate/comment.md {notes}"))
        comments.write_text(json.dumps([{"id": 1, "body": "hello"}, {"id": 3, "body": "<!-- attnscope:id=gate -->\nold"}]))
        self.shell(script, **variables)
        self.assertTrue(self.calls()[-1].endswith(f"--request PUT --data-urlencode body@gate/comment.md {notes}/3"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
