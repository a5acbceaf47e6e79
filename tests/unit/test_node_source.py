"""Tests of JavaScript read as text, and what a change does to them."""

from __future__ import annotations

import pytest

from sandbox.toolchains.node.source import code_of, flat, read_tests
from sandbox.toolchains.touched import compare_modules

SUITE = '''import { describe, it } from 'vitest'
import { f } from '../src/f.js'

const helper = (x) => f(x) + 1

describe('outer', () => {
  beforeEach(() => { reset() })

  it('is one', () => {
    expect(helper(1)).toBe(2) // it('not a test')
  })

  describe("inner > deep", () => {
    it(`is
      two`, async () => expect(/['"`]\\/{/.test(f(2))).toBe(true))
  })

  it.each([[1], [2]])('is %d', (n) => { expect(n).toBe(n) })
})

test('flat', t => t.is(1, 1))
'''


def test_titles_are_joined_by_level_and_computed_ones_belong_to_the_group_around_them() -> None:
    module = read_tests(SUITE)
    assert list(module.tests) == ["outer::is one", "outer::inner::deep::is two", "outer::(table 1)", "flat"]


def test_places_stay_where_they_are() -> None:
    code = code_of(SUITE)
    assert len(code) == len(SUITE)
    assert "not a test" not in code
    assert code.count("\n") == SUITE.count("\n")


@pytest.mark.parametrize("text", ["`${`}`}` + '`'", "a / b / c // '", "x = /[/'\"]/g; 'y'", "return /`/", "`a\\`b`", "`${ {a: '}'} }`;", "'unfinished\nit('x')"])
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    assert len(code_of(text)) == len(text)


def test_an_edited_test_is_edited_and_the_others_are_not() -> None:
    touched = compare_modules(read_tests(SUITE), read_tests(SUITE.replace("toBe(2)", "toBe(3)")))
    assert (touched.edited, touched.new, touched.affected) == ({"outer::is one"}, frozenset(), frozenset())


def test_a_helper_reaches_the_tests_that_use_it() -> None:
    touched = compare_modules(read_tests(SUITE), read_tests(SUITE.replace("f(x) + 1", "f(x) + 2")))
    assert touched.affected == {"outer::is one"}


def test_a_hook_reaches_the_tests_of_its_group() -> None:
    touched = compare_modules(read_tests(SUITE), read_tests(SUITE.replace("reset()", "reset(1)")))
    assert touched.affected == {"outer::is one", "outer::inner::deep::is two", "outer::(table 1)"}


def test_a_table_of_cases_in_a_loop_reaches_the_tests_that_are_made_of_it() -> None:
    text = "describe('f', () => {\n  const rows = [1, 2]\n  for (const row of rows) {\n    test(`is ${row}`, () => expect(row))\n  }\n})\n"
    touched = compare_modules(read_tests(text), read_tests(text.replace("2]", "3]")))
    assert touched.affected == {"f::(table 1)"}


def test_tests_inside_tests_are_of_their_own() -> None:
    text = "test('parse()', function (t) {\n  t.test('one', function (st) { st.end(); });\n  t.test('two', function (st) { st.ok(1); st.end(); });\n  t.end();\n});\n"
    module = read_tests(text)
    assert set(module.tests) == {"parse()", "parse()::one", "parse()::two"}
    touched = compare_modules(flat(module), flat(read_tests(text.replace("st.ok(1)", "st.ok(2)"))))
    assert (touched.edited, touched.new) == ({"two"}, frozenset())
