"""Classes 1-8: which tests run and what counts as one."""

import pytest
from calc_repository import BASE_TESTS, BREAKING, BROKEN_ADD, CORE, FIXED, NEW_TESTS, Repository
from judging import Command

pytestmark = pytest.mark.docker

NEEDS_REVIEW = ("inconclusive", "needs_review")
REGRESSION = ("rejected", "regression")
STILL_FAILS = ("rejected", "reproducer_still_fails")
VERIFIED = ("verified", "verified")
WRONG_REASON = ("inconclusive", "reproducer_wrong_reason")

ADD_TEST = "def test_add():\n    assert add(2, 3) == 5\n"


# 1: edited assertions


def test_an_edited_assert_does_not_count(repo: Repository, verify: Command) -> None:
    weaker = BASE_TESTS.replace("add(2, 3) == 5", "add(2, 3) is not None")

    judged = verify(repo, head=repo.lay({"tests/test_core.py": weaker}, over=BREAKING))

    assert judged.answer == NEEDS_REVIEW
    assert judged.guard["passed"] == 2
    assert "assert add(2, 3) == 5" in judged.details()
    assert "assert add(2, 3) is not None" in judged.details()


def test_an_untouched_test_in_an_edited_file_is_a_regression(repo: Repository, verify: Command) -> None:
    edited = BASE_TESTS.replace("clamp(9, 0, 5) == 5", "clamp(9, 0, 5) in (4, 5)")

    judged = verify(repo, head=repo.lay({"tests/test_core.py": edited}, over=BREAKING))

    assert judged.answer == REGRESSION
    assert judged.guard["failed"] == ["tests/test_core.py::test_add"]


def test_a_strengthened_assert_is_verified(repo: Repository, verify: Command) -> None:
    stronger = BASE_TESTS.replace("    assert add(2, 3) == 5\n", "    assert add(2, 3) == 5\n    assert add(-2, 3) == 1\n")

    judged = verify(repo, head=repo.lay({"tests/test_core.py": stronger}))

    assert judged.answer == VERIFIED
    assert judged.proven == ["tests/test_mean.py::test_mean"]


# 2: deleted tests


@pytest.mark.parametrize("left", [BASE_TESTS.replace(ADD_TEST, ""), None], ids=["the test", "its file"])
def test_deleting_a_failing_test_does_not_help(repo: Repository, verify: Command, left: str | None) -> None:
    judged = verify(repo, head=repo.lay({"tests/test_core.py": left}, over=BREAKING))

    assert judged.answer == NEEDS_REVIEW
    assert "(deleted)" in judged.details()


def test_a_case_that_the_source_takes_away_is_a_removed_test(repo: Repository, verify: Command) -> None:
    repo.rebase({"calc/core.py": CORE + "\n\nCASES = [(2, 3, 5), (1, 1, 2)]\n", "tests/test_cases.py": (
        "import pytest\nfrom calc.core import CASES, add\n\n\n"
        "@pytest.mark.parametrize(('a', 'b', 'total'), CASES)\ndef test_case(a, b, total):\n    assert add(a, b) == total\n")})

    judged = verify(repo, head=repo.lay({"calc/core.py": FIXED + "\n\nCASES = [(2, 3, 5)]\n"}))

    assert judged.answer == ("rejected", "tests_removed")
    assert judged.guard["missing"] == ["tests/test_cases.py::test_case[1-1-2]"]


def test_deleting_a_test_that_still_passes_is_verified(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"tests/test_core.py": BASE_TESTS.replace(ADD_TEST, "")}))

    assert judged.answer == VERIFIED
    assert judged.guard["passed"] == 3


# 3: skips


def test_a_skip_mark_on_a_failing_test_does_not_help(repo: Repository, verify: Command) -> None:
    marked = "import pytest\n" + BASE_TESTS.replace("def test_add():", "@pytest.mark.skip(reason='flaky')\ndef test_add():")

    judged = verify(repo, head=repo.lay({"tests/test_core.py": marked}, over=BREAKING))

    assert judged.answer == NEEDS_REVIEW


def test_a_test_that_the_source_gets_skipped_is_a_regression(repo: Repository, verify: Command) -> None:
    repo.rebase({"calc/fast.py": "def double(x):\n    return 2 * x\n", "tests/test_fast.py": (
        "import pytest\n\n\ndef test_double():\n    fast = pytest.importorskip('calc.fast')\n    assert fast.double(2) == 4\n")})

    judged = verify(repo, head=repo.lay({"calc/fast.py": None}))

    assert judged.answer == REGRESSION
    assert judged.guard["skipped_now"] == ["tests/test_fast.py::test_double"]


def test_a_new_test_for_another_platform_is_verified(repo: Repository, verify: Command) -> None:
    other = "\n\n@pytest.mark.skipif(sys.platform != 'win32', reason='Windows only')\ndef test_drive():\n    assert mean([1]) == 1\n"

    judged = verify(repo, head=repo.lay({"tests/test_mean.py": "import sys\n\nimport pytest\n" + NEW_TESTS + other}))

    assert judged.answer == VERIFIED
    assert judged.proven == ["tests/test_mean.py::test_mean"]


# 4: expected failures


def test_a_test_that_the_source_gets_expected_to_fail_is_a_regression(repo: Repository, verify: Command) -> None:
    repo.rebase({"calc/core.py": CORE + "\n\nKNOWN_FAULTY = False\n", "tests/test_known.py": (
        "import pytest\nfrom calc.core import KNOWN_FAULTY, add\n\n\n"
        "@pytest.mark.xfail(KNOWN_FAULTY, reason='known')\ndef test_sum():\n    assert add(1, 1) == 2\n")})

    judged = verify(repo, head=repo.lay({"calc/core.py": BROKEN_ADD + "\n\nKNOWN_FAULTY = True\n"}))

    assert judged.answer == REGRESSION
    assert judged.guard["skipped_now"] == ["tests/test_known.py::test_sum"]


def test_a_new_test_that_is_expected_to_fail_is_no_proof(repo: Repository, verify: Command) -> None:
    marked = "import pytest\n" + NEW_TESTS.replace("def test_mean", "@pytest.mark.xfail\ndef test_mean")

    judged = verify(repo, head=repo.lay({"tests/test_mean.py": marked}))

    assert judged.status != 0
    assert judged.proven == []


def test_taking_off_the_mark_of_a_test_that_the_fix_mends_is_verified(repo: Repository, verify: Command) -> None:
    mark = "@pytest.mark.xfail(strict=True)\n"
    repo.rebase({"tests/test_mean.py": "import pytest\n" + NEW_TESTS.replace("def test_mean", mark + "def test_mean")})

    judged = verify(repo, head=repo.lay({}))

    assert judged.answer == VERIFIED
    assert judged.proven == ["tests/test_mean.py::test_mean"]


# 5: skips raised by the source


def test_a_skip_raised_by_the_source_is_a_regression(repo: Repository, verify: Command) -> None:
    skipping = FIXED.replace("    return a + b\n", "    import unittest.case\n    raise getattr(unittest.case, 'Skip' + 'Test')('later')\n")

    judged = verify(repo, head=repo.lay({"calc/core.py": skipping}))

    assert judged.answer == REGRESSION
    assert judged.guard["skipped_now"] == ["tests/test_core.py::test_add", "tests/test_core.py::test_add_nothing"]


def test_a_reproducer_that_the_source_gets_skipped_still_fails(repo: Repository, verify: Command) -> None:
    skipping = CORE.replace("    return sum(values)", "    import unittest.case\n    raise getattr(unittest.case, 'Skip' + 'Test')('later')\n    return sum(values)")

    judged = verify(repo, head=repo.lay({"calc/core.py": skipping}))

    assert judged.answer == STILL_FAILS


def test_a_function_about_skipping_is_verified(repo: Repository, verify: Command) -> None:
    source = FIXED + "\n\ndef skip_blank(lines):\n    return [line for line in lines if line.strip()]\n"
    tests = NEW_TESTS + "\n\ndef test_skip_blank():\n    from calc.core import skip_blank\n    assert skip_blank(['a', ' ']) == ['a']\n"

    judged = verify(repo, head=repo.lay({"calc/core.py": source, "tests/test_mean.py": tests}))

    assert judged.answer == VERIFIED


# 6, 7: nothing collected, collection errors


def test_an_empty_collection_that_ends_well_is_a_regression(repo: Repository, verify: Command) -> None:
    quiet = "collect_ignore_glob = ['*']\n\n\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0\n"

    judged = verify(repo, head=repo.lay({"conftest.py": quiet, "tests/conftest.py": quiet}, over=BREAKING))

    assert judged.answer == REGRESSION
    assert judged.guard["failed"] == ["tests/test_core.py::test_add"]


def test_a_base_file_that_no_longer_collects_is_a_regression(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"calc/core.py": FIXED.replace("def clamp", "def _clamp")}))

    assert judged.answer == REGRESSION
    assert "collection" in judged.codes()
    assert len(judged.guard["missing"]) == 3


def test_a_new_file_that_does_not_collect_still_fails(repo: Repository, verify: Command) -> None:
    other = "from calc.core import median\n\n\ndef test_median():\n    assert median([1, 2, 9]) == 2\n"

    judged = verify(repo, head=repo.lay({"tests/test_median.py": other}))

    assert judged.answer == STILL_FAILS


def test_a_file_that_never_collected_is_not_held_against_a_fix(repo: Repository, verify: Command) -> None:
    repo.rebase({"tests/test_legacy.py": "import gone_for_years\n\n\ndef test_old():\n    assert gone_for_years\n"})

    judged = verify(repo, head=repo.lay({}))

    assert judged.answer == VERIFIED


# 8: tests of the change's own choosing


def test_new_tests_that_pass_on_base_prove_nothing(repo: Repository, verify: Command) -> None:
    judged = verify(repo, head=repo.lay({"tests/test_mean.py": "from calc.core import mean\n\n\ndef test_mean():\n    assert mean([0, 0]) == 0\n"}))

    assert judged.answer == ("inconclusive", "reproducer_passes_on_base")


def test_a_new_test_does_not_stand_in_for_a_base_test(repo: Repository, verify: Command) -> None:
    turned = BASE_TESTS.replace("add(2, 3) == 5", "add(2, 3) == -1")  # fails on base, passes with the change

    judged = verify(repo, head=repo.lay({"tests/test_core.py": turned}, over=BREAKING))

    assert judged.answer == NEEDS_REVIEW


def test_a_test_that_only_meets_a_new_name_proves_nothing(repo: Repository, verify: Command) -> None:
    source = CORE + "\n\ndef median(values):\n    return sorted(values)[0]\n"
    tests = "from calc.core import median\n\n\ndef test_median():\n    median([1, 2, 9])\n"

    judged = verify(repo, head=repo.lay({"calc/core.py": source, "tests/test_mean.py": tests}))

    assert judged.answer == WRONG_REASON


def test_a_test_that_reads_the_source_proves_nothing(repo: Repository, verify: Command) -> None:
    tests = "import calc.core\n\n\ndef test_mean():\n    assert '/ len(values)' in open(calc.core.__file__).read()\n"

    judged = verify(repo, head=repo.lay({"tests/test_mean.py": tests}))

    assert judged.answer == WRONG_REASON


def test_a_new_function_with_its_test_is_verified(repo: Repository, verify: Command) -> None:
    source = CORE + "\n\ndef median(values):\n    return sorted(values)[len(values) // 2]\n"
    tests = "from calc.core import median\n\n\ndef test_median():\n    assert median([9, 2, 1]) == 2\n"

    judged = verify(repo, head=repo.lay({"calc/core.py": source, "tests/test_mean.py": tests}))

    assert judged.answer == VERIFIED
    assert "fails_for_a_missing_name" in judged.codes("note")
