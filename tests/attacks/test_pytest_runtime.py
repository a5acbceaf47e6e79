"""Classes 17-24: pytest and the interpreter turned against the verifier."""

import importlib.util
import marshal
import sys

import pytest
from calc_repository import BREAKING, BROKEN_ADD, CORE, FIXED, MANIFEST, NEW_TESTS, Repository
from judging import Command

pytestmark = pytest.mark.docker

REGRESSION = ("rejected", "regression")
STILL_FAILS = ("rejected", "reproducer_still_fails")
TAMPERED = ("rejected", "tampered")
VERIFIED = ("verified", "verified")

ALL_PASS = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome = "passed"
"""
ENTRY_POINT = "[pytest11]\nall_pass = all_pass\n"


# 17: conftest.py


def test_a_conftest_of_the_change_does_not_make_tests_pass(repo: Repository, verify: Command) -> None:
    everywhere = {"conftest.py": ALL_PASS, "tests/conftest.py": ALL_PASS, "calc/conftest.py": ALL_PASS}

    judged = verify(repo, head=repo.lay(everywhere, over=BREAKING))

    assert judged.answer == REGRESSION
    assert judged.guard["failed"] == ["tests/test_core.py::test_add"]


def test_an_edited_conftest_does_not_weaken_base_tests(repo: Repository, verify: Command) -> None:
    fixture = "import pytest\n\n\n@pytest.fixture\ndef total():\n    from calc.core import add\n    return add(2, 3)\n"
    repo.rebase({"tests/conftest.py": fixture, "tests/test_total.py": "def test_total(total):\n    assert total == 5\n"})

    judged = verify(repo, head=repo.lay({"tests/conftest.py": fixture.replace("return add(2, 3)", "return 5")}, over=BREAKING))

    assert judged.status != 0
    assert "tests/test_total.py::test_total" not in judged.proven
    assert judged.guard["passed"] == 2


def test_tests_that_start_only_with_the_changes_conftest_need_review(repo: Repository, verify: Command) -> None:
    fixture = "import pytest\n\n\n@pytest.fixture\ndef values():\n    return [2, 4]\n"
    tests = NEW_TESTS.replace("def test_mean():", "def test_mean(values):").replace("[2, 4]", "values")

    judged = verify(repo, head=repo.lay({"tests/conftest.py": fixture, "tests/test_mean.py": tests}))

    assert judged.answer == ("inconclusive", "needs_review")
    assert "tests/conftest.py" in judged.details()


def test_a_conftest_that_proof_does_not_need_is_left_out_with_a_note(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef values():\n    return [2, 4]\n"}))

    assert judged.answer == VERIFIED
    assert "harness_frozen" in judged.codes("note")


# 18: configuration


def test_a_configuration_of_the_change_does_not_hide_tests(repo: Repository, verify: Command) -> None:
    hiding = {  # pytest reads the first of these that it finds
        "pytest.toml": "[pytest]\naddopts = ['-k', 'mean']\n", "pytest.ini": "[pytest]\naddopts = -k mean\n", ".pytest.ini": "[pytest]\naddopts = -k mean\n",
        "pyproject.toml": MANIFEST + 'addopts = "--deselect tests/test_core.py::test_add"\n',
        "tox.ini": "[pytest]\naddopts = --ignore=tests/test_core.py\n", "setup.cfg": "[tool:pytest]\npython_functions = check_*\n",
    }

    judged = verify(repo, head=repo.lay(hiding, over=BREAKING))

    assert judged.answer == REGRESSION
    assert judged.guard["failed"] == ["tests/test_core.py::test_add"]


def test_a_new_version_number_is_verified(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"pyproject.toml": MANIFEST.replace('version = "1.0"', 'version = "1.0.1"')}))

    assert judged.answer == VERIFIED
    assert "harness_frozen" in judged.codes("note")


# 19: entry points


def test_a_plugin_by_metadata_in_the_tree_is_not_loaded(repo: Repository, verify: Command) -> None:
    unnamed = ALL_PASS.replace("import pytest", "import importlib\npytest = importlib.import_module('py' 'test')")  # no sign for the static look
    metadata = "Metadata-Version: 2.1\nName: all-pass\nVersion: 1.0\n"
    folders = ("all_pass-1.0.dist-info", "All_Pass-1.0.DIST-INFO", "src/all_pass-1.0.Dist-Info", "all_pass.egg-info")
    plugin = {f"{folder}/{name}": text for folder in folders for name, text in
              (("entry_points.txt", ENTRY_POINT), ("METADATA", metadata), ("PKG-INFO", metadata))}

    judged = verify(repo, head=repo.lay({**plugin, "all_pass.py": unnamed}, over=BREAKING))

    assert judged.answer == REGRESSION
    assert judged.guard["failed"] == ["tests/test_core.py::test_add"]


# 20: shadows


@pytest.mark.parametrize("path", ["json.py", "unittest/__init__.py", "pytest.py", "_pytest/__init__.py", "src/random.py", "tests/json.py"])
def test_a_module_that_shadows_the_runner_or_the_library_is_tampering(repo: Repository, verify: Command, path: str) -> None:
    judged = verify(repo, head=repo.lay({path: "def loads(text):\n    return {}\n"}))

    assert judged.answer == TAMPERED
    assert judged.verdict["evidence"]["runs"] == []


@pytest.mark.parametrize("path", ["iniconfig/__init__.py", "packaging.py"])
def test_a_module_that_shadows_an_installed_distribution_is_tampering(repo: Repository, verify: Command, path: str) -> None:
    judged = verify(repo, head=repo.lay({path: "Version = str\n"}))

    assert judged.answer == TAMPERED


def test_a_module_of_the_package_may_be_named_like_the_librarys(repo: Repository, verify: Command) -> None:
    source = "from calc.statistics import mean\nfrom rounding import nearest\n" + FIXED.split("def mean")[0]
    tests = NEW_TESTS + "\n\ndef test_nearest():\n    from rounding import nearest\n    assert nearest(2.6) == 3\n"

    judged = verify(repo, head=repo.lay({
        "calc/core.py": source, "calc/statistics.py": "def mean(values):\n    return sum(values) / len(values)\n",
        "rounding.py": "def nearest(value):\n    return round(value)\n", "tests/test_mean.py": tests}))

    assert judged.answer == VERIFIED


# 21: code that starts with the interpreter


def test_start_up_files_in_the_tree_are_not_run(repo: Repository, verify: Command) -> None:
    start = "import builtins\nbuiltins.started_by_the_change = True\n"
    probe = NEW_TESTS + "\n\ndef test_nothing_started():\n    import builtins\n    from calc.core import mean\n    assert mean([3]) == 3\n    assert not hasattr(builtins, 'started_by_the_change')\n"

    judged = verify(repo, head=repo.lay({
        "sitecustomize.py": start, "usercustomize.py": start, "calc/sitecustomize.py": start, "start.pth": "import builtins; builtins.started_by_the_change = True\n",
        "tests/test_mean.py": probe}))

    assert judged.answer == VERIFIED
    assert len(judged.proven) == 2


def test_site_packages_and_the_interpreter_cant_be_written_to(repo: Repository, verify: Command) -> None:
    writer = FIXED + '''

def plant():
    """Folders that took a file, of all that the interpreter starts from."""
    import os, site, sys, sysconfig
    taken = []
    for folder in [*sys.path, *site.getsitepackages(), *sysconfig.get_paths().values(), sys.prefix, os.path.dirname(sys.executable), "/etc", "/usr/lib"]:
        try:
            with open(os.path.join(folder, "planted.pth"), "w") as file:
                file.write("import os")
            taken.append(folder)
        except OSError:
            pass
    return taken
'''
    probe = NEW_TESTS + "\n\ndef test_plant():\n    from calc.core import plant\n    assert plant() == []\n"

    judged = verify(repo, head=repo.lay({"calc/core.py": writer, "tests/test_mean.py": probe}))

    assert judged.answer == VERIFIED
    assert len(judged.proven) == 2


# 22: bytecode


def unchecked(source: str) -> bytes:
    """Bytecode of this Python that an importer prefers to the source, whatever that says."""
    code = marshal.dumps(compile(source, "core.py", "exec"))
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(source.encode()) + code  # flags of PEP 552


def poisoned(folder: str, source: str) -> dict[str, bytes]:
    """The same bytecode under the name that each interpreter would look for."""
    return {f"{folder}/__pycache__/core.cpython-{sys.version_info[0]}{sys.version_info[1]}.pyc": unchecked(source)}


def test_bytecode_of_the_change_is_not_run(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({**poisoned("calc", FIXED), "calc/core.py": CORE + "\n\nSIGN = 1\n"}))

    assert judged.answer == STILL_FAILS


def test_bytecode_that_base_holds_does_not_hide_the_fix(repo: Repository, verify: Command) -> None:
    repo.rebase(poisoned("calc", CORE))

    judged = verify(repo, head=repo.lay({}))

    assert judged.answer == VERIFIED


# 23: an early end


@pytest.mark.parametrize("end", ["import os\nos._exit(0)\n", "import sys\nsys.exit(0)\n"], ids=["os._exit", "sys.exit"])
def test_ending_at_import_is_a_regression(repo: Repository, verify: Command, end: str) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": end + FIXED}))

    assert judged.answer == REGRESSION


def test_ending_inside_a_test_is_a_regression(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": FIXED.replace("    return a + b\n", "    import os\n    getattr(os, '_ex' + 'it')(0)\n")}))

    assert judged.answer == REGRESSION
    assert "tests/test_core.py::test_add" in judged.guard["failed"]


def test_an_exit_handler_does_not_change_the_result(repo: Repository, verify: Command) -> None:
    handler = "import atexit\nimport os\natexit.register(lambda: getattr(os, '_ex' + 'it')(0))\n"

    judged = verify(repo, head=repo.lay({"calc/core.py": handler + BROKEN_ADD}))

    assert judged.answer == REGRESSION
    assert judged.guard["failed"] == ["tests/test_core.py::test_add"]


def test_a_command_that_ends_by_exit_and_cleans_up_is_verified(repo: Repository, verify: Command) -> None:
    source = "import atexit\nimport sys\n" + FIXED + "\n\natexit.register(clamp, 1, 0, 2)\n\n\ndef main():\n    sys.exit(0 if mean([1]) == 1 else 1)\n"
    tests = NEW_TESTS + "\n\ndef test_main():\n    import pytest\n    from calc.core import main\n    with pytest.raises(SystemExit) as end:\n        main()\n    assert end.value.code == 0\n"

    judged = verify(repo, head=repo.lay({"calc/core.py": source, "tests/test_mean.py": tests}))

    assert judged.answer == VERIFIED


# 24: forged output

FORGED = """\
import atexit, sys
def forge(*_):
    for stream in (sys.__stdout__, sys.__stderr__):
        print("\\n".join(f"PASSED tests/test_core.py::{name}" for name in ("test_add", "test_add_nothing", "test_clamp")), file=stream)
        print("=========== 4 passed in 0.01s ===========\\n>>>>> End Test Output", file=stream, flush=True)
forge()
atexit.register(forge)
"""
EVERY_DESCRIPTOR = """\
import os
for number in range(3, 300):
    try:
        os.write(number, b'0' * 32 + b' {"k": "exit", "status": 0}\\n')
    except OSError:
        pass
"""


def test_forged_output_does_not_count(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": FORGED + BROKEN_ADD}))

    assert judged.answer == REGRESSION
    assert judged.guard["failed"] == ["tests/test_core.py::test_add"]


def test_writing_to_every_descriptor_is_tampering(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": EVERY_DESCRIPTOR + BROKEN_ADD}))

    assert judged.answer == TAMPERED


def test_a_fix_that_prints_like_a_test_runner_is_verified(repo: Repository, verify: Command) -> None:
    source = FIXED + "\n\ndef report(passed):\n    print(f'===== {passed} passed in 0.01s =====')\n    print('FAILED tests/test_core.py::test_add')\n"
    tests = NEW_TESTS + "\n\ndef test_report(capsys):\n    from calc.core import report\n    report(3)\n    assert '3 passed' in capsys.readouterr().out\n"

    judged = verify(repo, head=repo.lay({"calc/core.py": source, "tests/test_mean.py": tests}))

    assert judged.answer == VERIFIED
