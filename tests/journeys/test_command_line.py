"""The command line's contract, on a repository nobody prepared."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.repository import DEFECT, FIX, NEW_TEST, TESTS, Answer, commit, git, make, run, verify

pytestmark = pytest.mark.docker
KEYS = {"schema", "verdict", "reason", "summary", "findings", "base", "head", "patch_sha256", "repository", "plans", "gates", "tests", "timing", "cost", "evidence"}
SPLIT = FIX.replace("max(values) - min(values)", "max(values)")


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Branches on one base: good, regression, tests-only, no-test, prose."""
    path = tmp_path_factory.mktemp("contract") / "repo"
    make(path)
    git(path, "tag", "base")
    for name, files in {"good": {"stats.py": FIX, "test_stats.py": NEW_TEST}, "regression": {"stats.py": SPLIT, "test_stats.py": NEW_TEST},
                        "tests-only": {"test_stats.py": NEW_TEST}, "no-test": {"stats.py": FIX}, "prose": {"README.md": "Statistics.\n"}}.items():
        git(path, "checkout", "-q", "-B", name, "base")
        commit(path, dict(files))
    return path


def diff(repo: Path, branch: str, file: Path) -> Path:
    file.write_text(git(repo, "diff", "base", branch), encoding="utf-8")
    return file


def head(repo: Path, branch: str, *more: str | Path) -> Answer:
    return verify(repo, "--base", "base", "--head", branch, *more)


def test_a_good_change_is_verified_with_its_proof(repo: Path) -> None:
    answer = head(repo, "good")
    assert (answer.status, answer.reason) == (0, "verified")
    assert set(answer.verdict) >= KEYS
    assert answer.verdict["gates"]["fail_to_pass"] == {"status": "passed", "origin": "patch-tests", "passed": ["test_stats.py::test_mean"], "failed": []}
    assert (answer.verdict["gates"]["pass_to_pass"]["passed"], answer.verdict["gates"]["pass_to_pass"]["status"]) == (2, "passed")
    assert [(r["id"], r["category"], r["from"]) for r in answer.verdict["tests"]] == [
        ("test_stats.py::test_span", "P2P", "base"), ("test_stats.py::test_span_of_one", "P2P", "base"), ("test_stats.py::test_mean", "F2P", "change")]
    assert "verified" in answer.output.splitlines()[0]


def test_a_regression_is_rejected_by_name_with_the_failing_line(repo: Path) -> None:
    answer = head(repo, "regression")
    assert (answer.status, answer.reason) == (1, "regression")
    assert answer.verdict["gates"]["pass_to_pass"]["failed"] == ["test_stats.py::test_span", "test_stats.py::test_span_of_one"]
    diagnosis = next(f for f in answer.verdict["findings"] if f["code"] == "assertion")
    assert "assert 9 == 7" in diagnosis["detail"]
    assert diagnosis["paths"] == ["test_stats.py:5"]
    assert "assert 9 == 7" in answer.output


@pytest.mark.parametrize(("branch", "status", "reason"), [
    ("tests-only", 1, "reproducer_still_fails"), ("no-test", 3, "no_reproducer"), ("prose", 3, "no_reproducer")])
def test_what_is_not_shown_is_not_verified(repo: Path, branch: str, status: int, reason: str) -> None:
    answer = head(repo, branch)
    assert (answer.status, answer.reason) == (status, reason)


def test_prose_runs_no_suite(repo: Path) -> None:
    answer = head(repo, "prose")
    assert "nothing_to_run" in answer.codes()
    assert answer.verdict["evidence"]["runs"] == []
    assert answer.verdict["gates"]["pass_to_pass"]["status"] == "not_run"


def test_a_patch_with_given_tests_is_verified(repo: Path, tmp_path: Path) -> None:
    answer = verify(repo, "--base", "base", "--patch", diff(repo, "no-test", tmp_path / "fix"), "--test-patch", diff(repo, "tests-only", tmp_path / "tests"))
    assert (answer.status, answer.verdict["head"], answer.verdict["gates"]["fail_to_pass"]["origin"]) == (0, None, "given")


@pytest.mark.parametrize(("text", "status", "reason"), [
    ("from stats import mean\n\n\ndef test_it():\n    assert mean([2, 4]) == 3\n", 0, "verified"),
    ("from stats import mean\n\nif mean([2, 4]) != 3:\n    raise SystemExit('wrong mean')\n", 0, "verified"),
    ("from stats import span\n\n\ndef test_it():\n    assert span([2, 4]) == 2\n", 3, "reproducer_passes_on_base"),
    ("from stats import mean\n\n\ndef test_it():\n    assert mean([2, 4]) == 4\n", 1, "reproducer_still_fails"),
    ("from stats import median\n\n\ndef test_it():\n    assert median([2, 4]) == 3\n", 1, "reproducer_still_fails"),
])
def test_a_reproducer_file_must_fail_and_then_pass(repo: Path, tmp_path: Path, text: str, status: int, reason: str) -> None:
    file = tmp_path / "repro.py"
    file.write_text(text, encoding="utf-8")
    answer = verify(repo, "--base", "base", "--patch", diff(repo, "no-test", tmp_path / "fix"), "--reproducer", file, "--repeat", "2")
    assert (answer.status, answer.reason) == (status, reason)


def test_each_of_several_reproducers_must_fail_on_base(repo: Path, tmp_path: Path) -> None:
    right, idle = tmp_path / "test_right.py", tmp_path / "test_idle.py"
    right.write_text("from stats import mean\n\n\ndef test_it():\n    assert mean([2, 4]) == 3\n", encoding="utf-8")
    idle.write_text("def test_idle():\n    assert True\n", encoding="utf-8")
    answer = verify(repo, "--base", "base", "--patch", diff(repo, "no-test", tmp_path / "fix"), "--reproducer", right, "--reproducer", idle, "--repeat", "2")
    assert (answer.status, answer.reason) == (3, "reproducer_passes_on_base")


def test_the_changes_own_tests_must_pass_beside_a_given_reproducer(repo: Path, tmp_path: Path) -> None:
    git(repo, "checkout", "-q", "-B", "own-fails", "no-test")
    commit(repo, {"test_stats.py": TESTS + "\n\ndef test_own():\n    assert mean([1]) == 2\n"})
    file = tmp_path / "test_right.py"
    file.write_text("from stats import mean\n\n\ndef test_it():\n    assert mean([2, 4]) == 3\n", encoding="utf-8")
    answer = head(repo, "own-fails", "--reproducer", file, "--repeat", "2")
    assert (answer.status, answer.reason) == (1, "reproducer_still_fails")
    assert answer.verdict["gates"]["fail_to_pass"]["failed"] == ["test_stats.py::test_own"]


def test_a_failing_test_that_base_already_had_is_a_reproducer(tmp_path: Path) -> None:
    make(tmp_path / "r", {"stats.py": DEFECT, "test_stats.py": NEW_TEST})
    commit(tmp_path / "r", {"stats.py": FIX})
    answer = verify(tmp_path / "r", "--base", "HEAD~1", "--head", "HEAD", "--repeat", "2")
    assert (answer.reason, answer.verdict["gates"]["fail_to_pass"]["passed"]) == ("verified", ["test_stats.py::test_mean"])


def without_object(repo: Path, path: str) -> None:
    """A clone that lacks a file's content, as a partial one does."""
    name = git(repo, "rev-parse", f"HEAD:{path}").strip()
    (repo / ".git" / "objects" / name[:2] / name[2:]).unlink()


def test_a_clone_that_lacks_a_file_is_judged_by_the_others(tmp_path: Path) -> None:
    make(tmp_path / "r", {**dict.fromkeys(["big.bin"], "x" * 100), "stats.py": DEFECT, "test_stats.py": TESTS})
    commit(tmp_path / "r", {"stats.py": FIX, "test_stats.py": NEW_TEST})
    without_object(tmp_path / "r", "big.bin")
    answer = verify(tmp_path / "r", "--base", "HEAD~1", "--head", "HEAD", "--repeat", "2")
    assert answer.reason == "verified"
    assert [finding["paths"] for finding in answer.verdict["findings"] if finding["code"] == "objects_missing"] == [["big.bin"]]


def test_a_clone_that_lacks_what_the_change_touches_is_bad_input(tmp_path: Path) -> None:
    make(tmp_path / "r", {"stats.py": DEFECT, "test_stats.py": TESTS})
    commit(tmp_path / "r", {"stats.py": FIX, "test_stats.py": NEW_TEST})
    without_object(tmp_path / "r", "stats.py")
    answer = verify(tmp_path / "r", "--base", "HEAD~1", "--head", "HEAD")
    assert answer.status == 2
    assert "stats.py" in answer.errors


def test_a_tree_that_stands_for_millions_of_paths_is_bad_input(tmp_path: Path) -> None:
    base = make(tmp_path / "r", {"stats.py": DEFECT, "test_stats.py": TESTS})
    level = git(tmp_path / "r", "rev-parse", "HEAD^{tree}").strip()
    for _ in range(6):
        listing = "".join(f"040000 tree {level}\t{name:>0{40}}\n" for name in "0123456789")
        level = subprocess.run(["git", "-C", str(tmp_path / "r"), "mktree"], input=listing, capture_output=True, text=True, check=True).stdout.strip()
    head = git(tmp_path / "r", "commit-tree", level, "-p", base, "-m", "bomb").strip()
    answer = verify(tmp_path / "r", "--base", "HEAD", "--head", head)
    assert (answer.status, answer.errors.count("\n")) == (2, 1)
    assert "too many files" in answer.errors


def test_a_new_test_that_needs_its_neighbours_is_judged_beside_them(tmp_path: Path) -> None:
    leaning = "from stats import mean, span\n\nSEEN = []\n\n\ndef test_span():\n    SEEN.append(1)\n    assert span([2, 9]) == 7\n"
    make(tmp_path / "r", {"stats.py": DEFECT, "test_stats.py": leaning})
    commit(tmp_path / "r", {"stats.py": FIX, "test_stats.py": leaning + "\n\ndef test_mean():\n    assert SEEN\n    assert mean([1, 2, 3]) == 2\n"})
    answer = verify(tmp_path / "r", "--base", "HEAD~1", "--head", "HEAD", "--repeat", "3")
    assert (answer.reason, answer.verdict["gates"]["fail_to_pass"]["passed"]) == ("verified", ["test_stats.py::test_mean"])
    assert "order_dependent" in answer.codes()


def test_json_on_standard_output_sends_the_report_to_standard_error(repo: Path) -> None:
    done = run("verify", repo, "--base", "base", "--head", "prose", "--json", "-")
    assert json.loads(done.stdout)["reason"] == "no_reproducer"
    assert "inconclusive" in done.stderr


def test_junit_tells_the_verdict_too(repo: Path, tmp_path: Path) -> None:
    head(repo, "regression", "--junit", tmp_path / "junit.xml")
    document = ET.parse(tmp_path / "junit.xml").getroot()
    failed = {case.get("name") for case in document.iter("testcase") if case.find("failure") is not None}
    assert failed == {"verdict", "test_span", "test_span_of_one"}


def test_runs_are_listed_and_shown(repo: Path) -> None:
    run_id = head(repo, "prose").verdict["run"]
    assert run_id in run("runs", "list").stdout
    assert "no reproducer" in run("runs", "show", run_id).stdout


def test_a_verdict_is_repeated_from_its_file(repo: Path, tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    first = run("verify", repo, "--base", "base", "--head", "good", "--json", file)
    assert first.returncode == 0, first.stderr
    again = run("runs", "replay", file)
    assert (again.returncode, again.stdout.splitlines()[-1].split(":")[0]) == (0, "it came out the same"), again.stdout + again.stderr
    verdict = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**verdict, "reason": "regression"}), encoding="utf-8")
    other = run("runs", "replay", file)
    assert (other.returncode, "reason: regression, now verified" in other.stdout) == (1, True), other.stdout + other.stderr


def test_the_base_is_the_merge_base_and_says_how_far_behind(repo: Path) -> None:
    git(repo, "checkout", "-q", "-B", "ahead", "base")
    commit(repo, {"other.py": "X = 1\n"})
    answer = verify(repo, "--base", "ahead", "--head", "prose")
    assert answer.verdict["base"] == git(repo, "rev-parse", "base").strip()
    assert "base_behind" in answer.codes()


def test_uncommitted_edits_do_not_count(repo: Path) -> None:
    git(repo, "checkout", "-q", "no-test")
    (repo / "stats.py").write_text(DEFECT, encoding="utf-8")
    (repo / "test_stats.py").write_text(TESTS + "\n\ndef test_more():\n    assert 0\n", encoding="utf-8")
    answer = head(repo, "good", "--repeat", "2")
    git(repo, "checkout", "-q", "-f", "no-test")
    assert answer.reason == "verified"


BAD = {
    "unknown revision": ["--base", "nowhere", "--head", "base"], "head equal to base": ["--base", "base", "--head", "base"], "an option as a revision": ["--base", "--all", "--head", "base"],
    "neither head nor patch": ["--base", "base"], "missing file": ["--base", "base", "--patch", "absent.patch"], "a folder as a patch": ["--base", "base", "--patch", "."],
    "a number that is none": ["--base", "base", "--head", "good", "--repeat", "many"], "no repeat": ["--base", "base", "--head", "good", "--repeat", "0"],
    "an option of a later day": ["--base", "base", "--head", "good", "--runtime", "runsc"], "a missing configuration": ["--base", "base", "--head", "good", "--config", "absent.yml"],
    "a reproducer that is not Python": ["--base", "base", "--head", "good", "--reproducer", "README.md"], "a folder that is not there": ["--base", "base", "--head", "good", "--junit", "no/where.xml"],
}


@pytest.mark.parametrize("args", BAD.values(), ids=BAD.keys())
def test_bad_input_is_a_short_message_and_exit_2(repo: Path, args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("not (Python\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    answer = verify(repo, *args, out=tmp_path / "verdict.json")
    assert (answer.status, answer.verdict) == (2, {})
    assert 0 < len(answer.errors.strip().splitlines()) <= 8
    assert "Traceback" not in answer.errors


@pytest.mark.parametrize("content", [b"", b"\n\n", b"not a diff\n", b"\x00\xff\xfe"])
def test_a_patch_that_is_none_is_bad_input(repo: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p").write_bytes(content)
    assert verify(repo, "--base", "base", "--patch", tmp_path / "p").status == 2


def test_both_head_and_patch_are_bad_input(repo: Path, tmp_path: Path) -> None:
    assert verify(repo, "--base", "base", "--head", "good", "--patch", diff(repo, "good", tmp_path / "p")).status == 2


def test_a_folder_that_is_no_repository_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert verify(tmp_path / "empty", "--base", "a", "--head", "b").status == 2


def test_unrelated_histories_are_bad_input(repo: Path) -> None:
    git(repo, "checkout", "-q", "--orphan", "island")
    commit(repo, {"stats.py": FIX})
    assert head(repo, "island").status == 2


def test_without_an_engine_the_exit_is_4_and_names_the_command(repo: Path) -> None:
    answer = verify(repo, "--base", "base", "--head", "good", env={"DOCKER_HOST": "unix:///nonexistent.sock"})
    assert (answer.status, answer.verdict) == (4, {})
    assert "dockerd" in answer.errors


@pytest.mark.parametrize("command", [("doctor",), ("runs", "list"), ("images", "prune"), ("worker",)])
def test_a_setting_that_is_wrong_is_named(command: tuple[str, ...]) -> None:
    done = run(*command, env={"DUALGATE_MAX_BOXES": "many"})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "DUALGATE_MAX_BOXES" in done.stderr


def test_a_plan_explains_itself_and_runs(repo: Path, tmp_path: Path) -> None:
    done = run("plan", repo, "--rev", "base", "--run", "--json", tmp_path / "plan.json")
    plan = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert (done.returncode, plan["schema"], plan["run"][0]["passed"]) == (0, "dualgate/plan/v1", 2)
    assert any(choice["file"] == "test_stats.py" for choice in plan["plans"][0]["why"])


def test_a_plan_without_tests_says_so(tmp_path: Path) -> None:
    make(tmp_path / "bare", {"README.md": "x"})
    done = run("plan", tmp_path / "bare", "--json", tmp_path / "plan.json")
    assert (done.returncode, json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))["reason"]) == (3, "no_tests")


def test_the_doctor_finds_a_healthy_machine() -> None:
    done = run("doctor")
    assert done.returncode == 0, done.stdout


def test_the_doctor_names_the_command_that_mends() -> None:
    done = run("doctor", env={"DOCKER_HOST": "unix:///nonexistent.sock"})
    assert done.returncode == 4
    assert "mend it with: start it with `dockerd" in done.stdout
