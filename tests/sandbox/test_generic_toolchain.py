"""Changes to repositories that are tested by a command of their own, judged in real boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repository import Answer, commit, make, verify

pytestmark = pytest.mark.docker
ADD = '#include "add.h"\nint add(int a, int b) { return a - b; }\n'
SUM = ADD.replace("a - b", "a + b")
C = {
    "Makefile": "prog: main.c add.c add.h\n\tcc -o prog main.c add.c\n\ntest: prog\n\tsh tests/check.sh\n", "add.c": ADD, "add.h": "int add(int, int);\n",
    "main.c": '#include <stdio.h>\n#include <stdlib.h>\n#include "add.h"\nint main(int c, char **v) { printf("%d\\n", add(atoi(v[1]), atoi(v[2]))); return 0; }\n',
    "tests/check.sh": 'set -e\n[ "$(./prog 4 0)" = 4 ]\n',
}
CHECK = C["tests/check.sh"] + '[ "$(./prog 2 3)" = 5 ]\n'
PERL = {"lib/Calc.pm": "package Calc;\nsub add { my ($x, $y) = @_; return $x - $y }\nsub neg { return -$_[0] }\n1;\n",
        "t/neg.t": "use Test::More tests => 1;\nuse Calc;\nis(Calc::neg(2), -2, 'negates');\n"}
ADDS = "use Test::More tests => 1;\nuse Calc;\nis(Calc::add(2, 3), 5, 'adds');\n"
CMAKE = {**{name: C[name] for name in ("add.c", "add.h")}, "tests/t.c": '#include "add.h"\nint main(int c, char **v) { return add(4, 0) != 4; }\n',
         "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nenable_testing()\nadd_executable(t tests/t.c add.c)\n"
                           "target_include_directories(t PRIVATE .)\nadd_test(NAME sums COMMAND t)\n"}


def judged(tmp_path: Path, base: dict[str, str | None], change: dict[str, str | None]) -> Answer:
    before = make(tmp_path / "tool", base)
    return verify(tmp_path / "tool", "--base", before, "--head", commit(tmp_path / "tool", change))


def proof(answer: Answer) -> list[str]:
    return list(answer.verdict["gates"]["fail_to_pass"]["passed"])


def test_a_command_is_judged_by_its_exit_status_and_says_so(tmp_path: Path) -> None:
    answer = judged(tmp_path, dict(C), {"add.c": SUM, "tests/check.sh": CHECK})
    assert (answer.reason, proof(answer)) == ("verified", ["make test::exit status"])
    assert "coarse_results" in answer.codes()


def test_a_file_of_tap_is_judged_test_by_test(tmp_path: Path) -> None:
    change = PERL["lib/Calc.pm"].replace("$x - $y", "$x + $y").replace("-$_[0]", "$_[0]")
    answer = judged(tmp_path, dict(PERL), {"lib/Calc.pm": change, "t/add.t": ADDS})
    assert (answer.reason, proof(answer)) == ("regression", ["t/add.t::adds", "t/add.t::exit status"])
    assert "t/neg.t::negates" in answer.verdict["gates"]["pass_to_pass"]["failed"]


@pytest.mark.thorough
@pytest.mark.parametrize(("base", "change", "reason"), [
    (C, {"tests/check.sh": CHECK}, "reproducer_still_fails"),
    (C, {"add.c": SUM.replace("return", "return a == 4 ? 7 :"), "tests/check.sh": '[ "$(./prog 2 3)" = 5 ]\n'}, "needs_review"),
    (C, {"add.c": SUM, "tests/check.sh": CHECK, "Makefile": C["Makefile"] + "# x\n"}, "needs_review"),
    (PERL, {"lib/Calc.pm": PERL["lib/Calc.pm"].replace("$x - $y", "$x + $y"), "t/add.t": ADDS}, "verified"),
    (PERL, {"lib/Calc.pm": PERL["lib/Calc.pm"].replace("$x - $y", "$x + $y").replace("-$_[0]", "exit 0"), "t/add.t": ADDS}, "regression"),
    (CMAKE, {"add.c": SUM, "tests/t.c": CMAKE["tests/t.c"].replace("4, 0) != 4", "2, 3) != 5")}, "verified"),
    (CMAKE, {"add.c": SUM.replace(";", ""), "tests/t.c": CMAKE["tests/t.c"].replace("4, 0) != 4", "2, 3) != 5")}, "build_failed"),
], ids=["twin", "another answer", "the makefile", "perl", "perl that exits", "ctest", "does not compile"])
def test_what_commands_show(tmp_path: Path, base: dict[str, str | None], change: dict[str, str | None], reason: str) -> None:
    answer = judged(tmp_path, dict(base), change)
    assert answer.reason == reason, answer.output + answer.errors
