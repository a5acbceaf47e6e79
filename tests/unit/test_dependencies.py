"""Names of added dependencies: whose they are, whether a registry has them, whether they look like another one; and what a change does to lock files."""

from __future__ import annotations

import datetime
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bot.verification.dependencies import judge_dependency
from bot.verification.missing_packages import describe
from sandbox.registries import lookup as lookups
from sandbox.registries.imports import missing_imports
from sandbox.registries.likeness import is_one_edit, mistaken_for, popular
from sandbox.registries.locks import compare
from sandbox.registries.lookup import REGISTRIES, Known, Lookup, RegistryUnavailable
from sandbox.registries.names import package_of

TODAY = datetime.date(2026, 12, 1)
OLD, NEW = datetime.date(2020, 1, 1), datetime.date(2026, 11, 20)


@pytest.mark.parametrize(("toolchain", "requirement", "expected"), [
    ("python", "Flask_Login[x]>=1; python_version > '3'", ("pypi", "flask-login")),
    ("python", "mine @ https://example.org/mine.whl", None),
    ("python", "not a requirement", None),
    ("node", "left-pad@^1.3.0", ("npm", "left-pad")),
    ("node", "@types/node@22", ("npm", "@types/node")),
    ("node", "chalk", ("npm", "chalk")),
    ("node", "alias@npm:@scope/real@1", ("npm", "@scope/real")),
    ("node", "mine@file:../mine", None),
    ("node", "mine@workspace:*", None),
    ("node", "mine@owner/repo#main", None),
    ("node", "mine@git+ssh://git@github.com/o/r.git", None),
    ("go", "github.com/BurntSushi/toml@v1.4.0", ("go", "github.com/BurntSushi/toml")),
    ("go", "not a module", None),
    ("rust", 'serde = "1" in [dependencies] of Cargo.toml', ("crates", "serde")),
    ("rust", 'mine = { package = "serde_json", version = "1" } in [dependencies] of a/Cargo.toml', ("crates", "serde_json")),
    ("rust", 'mine = { path = "../mine" } in [dev-dependencies] of Cargo.toml', None),
    ("maven", "com.google.guava:guava:33.0.0-jre", ("maven", "com.google.guava:guava")),
    ("generic", "anything", None),
])
def test_a_requirement_means_a_name_in_a_registry(toolchain: str, requirement: str, expected: tuple[str, str] | None) -> None:
    assert package_of(toolchain, requirement) == expected


@pytest.mark.parametrize(("one", "other", "expected"), [
    ("requests", "request", True), ("reqeusts", "requests", True), ("requosts", "requests", True), ("requestss", "requests", True),
    ("requests", "requests", False), ("requests", "requeststs", False), ("reqeutss", "requests", False), ("abcd", "badc", False), ("", "a", True),
])
def test_one_slip_of_the_finger(one: str, other: str, expected: bool) -> None:
    assert (is_one_edit(one, other), is_one_edit(other, one)) == (expected, expected)


@pytest.mark.parametrize(("registry", "name", "expected"), [
    ("pypi", "reqeusts", "requests"), ("pypi", "requests", None), ("pypi", "attr", "attrs"), ("pypi", "mine-own-thing", None), ("pypi", "six2", None),
    ("npm", "lodahs", "lodash"), ("npm", "cross_env", "cross-env"), ("npm", "once", None), ("crates", "serde-json", "serde_json"),
    ("go", "github.com/burntsushi/tom1", "github.com/burntsushi/toml"), ("maven", "com.google.guava:guave", "com.google.guava:guava"), ("unknown", "requests", None),
])
def test_what_a_name_is_mistaken_for(registry: str, name: str, expected: str | None) -> None:
    assert mistaken_for(registry, name) == expected


def test_each_registry_has_its_list_of_names() -> None:
    assert all(len(popular(name)) > 30 and REGISTRIES[name].anchor[0].lower() in popular(name) for name in REGISTRIES)


@pytest.mark.parametrize(("known", "elsewhere", "code"), [
    (Known("pypi", "zzz", False), False, "hallucinated_dependency"),
    (Known("pypi", "zzz", False), True, "dependency_not_public"),
    (Known("pypi", "zzz", None), False, None),
    (Known("pypi", "reqeusts", None), False, None),
    (Known("pypi", "reqeusts", True, NEW), False, "hallucinated_dependency"),
    (Known("pypi", "reqeusts", True, OLD), False, None),
    (Known("pypi", "reqeusts", True), False, "dependency_near_name"),
    (Known("pypi", "a-new-name", True, NEW), False, None),
    (Known("pypi", "requests", True), False, None),
])
def test_what_the_registrys_word_means(known: Known, elsewhere: bool, code: str | None) -> None:
    finding = judge_dependency(known, TODAY, elsewhere)
    assert (finding and finding.code) == code
    assert finding is None or known.name in finding.detail


class Shelf(BaseHTTPRequestHandler):
    """A registry in PyPI's words (PEP 691 and 700)."""

    pages: dict[str, tuple[int, object]] = {}

    def do_GET(self) -> None:
        status, body = self.pages.get(self.path, (404, {}))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, tuple[int, object]]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shelf)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    monkeypatch.setattr(lookups, "REGISTRIES", {name: replace(one, url=url) for name, one in REGISTRIES.items()})
    Shelf.pages = {"/mine/": (200, files("2026-11-20", "2026-11-01")), "/requests/": (200, files("2012-01-22")), "/hidden/": (403, {}), "/ill/": (503, {})}
    yield Shelf.pages
    server.shutdown()
    server.server_close()


def files(*days: str) -> dict[str, object]:
    return {"files": [{"filename": f"{day}.whl", "upload-time": f"{day}T01:02:03.5Z"} for day in days]}


def test_a_registry_is_asked_for_a_name_and_its_first_day(shelf: dict[str, tuple[int, object]]) -> None:
    lookup = Lookup()
    assert lookup.ask("pypi", "mine") == Known("pypi", "mine", True, datetime.date(2026, 11, 1))
    assert lookup.ask("pypi", "nobodys") == Known("pypi", "nobodys", False)
    assert lookup.ask("pypi", "hidden") == Known("pypi", "hidden", None)
    with pytest.raises(RegistryUnavailable, match="PyPI does not answer"):
        lookup.ask("pypi", "ill")


def test_the_days_of_a_mirror_that_has_its_own_are_not_believed(shelf: dict[str, tuple[int, object]]) -> None:
    shelf["/requests/"] = (200, files("2025-01-22"))
    assert Lookup().ask("pypi", "mine") == Known("pypi", "mine", True)


def test_a_registry_that_is_gone_is_nobodys_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "REGISTRIES", {"npm": replace(REGISTRIES["npm"], url="http://127.0.0.1:1/")})
    with pytest.raises(RegistryUnavailable):
        Lookup().ask("npm", "chalk")


@pytest.mark.parametrize(("registry", "name", "page"), [
    ("crates", "a", "1/a"), ("crates", "ab", "2/ab"), ("crates", "abc", "3/a/abc"), ("crates", "Serde", "se/rd/serde"), ("npm", "@types/node", "@types%2Fnode"),
    ("go", "github.com/BurntSushi/toml", "github.com/!burnt!sushi/toml/@v/list"), ("maven", "com.google.guava:guava", "com/google/guava/guava/maven-metadata.xml"),
])
def test_pages_of_names(registry: str, name: str, page: str) -> None:
    assert REGISTRIES[registry].page(name) == page


ONE, TWO = "A" * 40, "B" * 40
HEX_ONE, HEX_TWO = "a" * 64, "b" * 64


def npm(host: str = "registry.npmjs.org", digest: str = ONE) -> str:
    return json.dumps({"lockfileVersion": 3, "packages": {"": {"name": "x"}, "node_modules/a/node_modules/@s/b": {
        "version": "1.0.0", "resolved": f"https://{host}/@s/b/-/b-1.0.0.tgz", **({"integrity": f"sha512-{digest}"} if digest else {})}}})


def npm_older(host: str = "registry.npmjs.org", digest: str = ONE) -> str:
    row = {"version": "1.0.0", "resolved": f"https://{host}/b.tgz", **({"integrity": f"sha512-{digest}"} if digest else {})}
    return json.dumps({"lockfileVersion": 1, "dependencies": {"a": {"version": "2.0.0", "dependencies": {"b": row}}}})


def yarn(host: str = "registry.yarnpkg.com", digest: str = ONE) -> str:
    return f'# yarn lockfile v1\n\n\n"@s/b@^1.0.0", "@s/b@~1":\n  version "1.0.0"\n  resolved "https://{host}/b.tgz#1"\n' + (f"  integrity sha512-{digest}\n" if digest else "")


def berry(host: str = "", digest: str = HEX_ONE) -> str:
    where = f"@s/b@https://{host}/b.tgz" if host else "@s/b@npm:1.0.0"
    return f'__metadata:\n  version: 8\n\n"@s/b@npm:^1.0.0":\n  version: 1.0.0\n  resolution: "{where}"\n' + (f"  checksum: 10c0/{digest}\n" if digest else "")


def pnpm(host: str = "", digest: str = ONE) -> str:
    words = [f"integrity: sha512-{digest}"] if digest else []
    words += [f"tarball: https://{host}/b.tgz"] if host else []
    return f"lockfileVersion: '9.0'\n\npackages:\n\n  '@s/b@1.0.0':\n    resolution: {{{', '.join(words)}}}\n    engines: {{node: '>=8'}}\n"


def cargo(host: str = "github.com", digest: str = HEX_ONE) -> str:
    return f'[[package]]\nname = "b"\nversion = "1.0.0"\nsource = "registry+https://{host}/rust-lang/crates.io-index"\n' + (f'checksum = "{digest}"\n' if digest else "")


def poetry(host: str = "", digest: str = HEX_ONE) -> str:
    files = f'files = [{{file = "b.whl", hash = "sha256:{digest}"}}]\n' if digest else ""
    return f'[[package]]\nname = "b"\nversion = "1.0.0"\n{files}' + (f'[package.source]\ntype = "legacy"\nurl = "https://{host}/simple"\n' if host else "")


def uv(host: str = "pypi.org", digest: str = HEX_ONE) -> str:
    end = f', hash = "sha256:{digest}"' if digest else ""
    return f'[[package]]\nname = "b"\nversion = "1.0.0"\nsource = {{ registry = "https://pypi.org/simple" }}\nsdist = {{ url = "https://{host}/b.tar.gz"{end} }}\n'


LOCKS = [("package-lock.json", npm, TWO), ("web/package-lock.json", npm_older, TWO), ("yarn.lock", yarn, TWO), ("yarn.lock", berry, HEX_TWO), ("pnpm-lock.yaml", pnpm, TWO),
         ("Cargo.lock", cargo, HEX_TWO), ("poetry.lock", poetry, HEX_TWO), ("uv.lock", uv, HEX_TWO)]
HOSTS = frozenset({"registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "github.com", ".fine.example"})


@pytest.mark.parametrize(("path", "lock", "other"), LOCKS)
def test_a_lock_file_that_changes_what_a_release_is(path: str, lock, other: str) -> None:  # type: ignore[no-untyped-def]
    def faults(before: str, after: str) -> list[str]:
        return [fault.detail for fault in compare(path, before, after, HOSTS)]

    assert faults(lock(), lock()) == []
    assert faults("", lock()) == []
    assert "another hash" in faults(lock(), lock(digest=other))[0]
    assert "no longer knows" in faults(lock(), lock(digest=""))[0]
    assert "evil.example" in faults(lock(), lock(host="evil.example"))[0]
    assert faults(lock(), lock(host="a.fine.example")) == []
    assert faults(lock(host="base.example"), lock(host="base.example")) == []
    assert faults(lock(), lock(digest=other).replace("1.0.0", "1.0.1")) == []


def test_sums_of_go_and_files_that_can_not_be_read() -> None:
    line = "example.org/b v1.0.0 h1:{}=\n"
    assert compare("go.sum", line.format("aaa"), line.format("aaa") + "example.org/c v1.0.0 h1:x=\n", HOSTS) == []
    assert compare("go.sum", line.format("aaa"), line.format("bbb"), HOSTS) != []
    assert compare("uv.lock", uv(), "<<<<<<< HEAD", HOSTS) != []
    assert compare("package-lock.json", "{{ template }}", "{{ other }}", HOSTS) == []
    assert compare("package-lock.json", npm(), "[]", HOSTS) != []


@pytest.mark.parametrize(("toolchain", "text", "expected"), [
    ("python", "ModuleNotFoundError: No module named 'yaml.loader'\nNo module named 'zzz'", ("pyyaml", "zzz")),
    ("python", "No module named 'json.nothing'", ()),
    ("node", "Error: Cannot find module 'left-pad/index'\nCannot find package '@a/b' imported from x", ("left-pad", "@a/b")),
    ("node", "Cannot find module './mine' and Cannot find module '/repo/x' and Cannot find module '../x'", ()),
    ("go", "a.go:3:8: no required module provides package github.com/a/b/v2/c; to add it:", ("github.com/a/b",)),
    ("rust", "error[E0432]: unresolved import `zzz::x`\nuse of undeclared crate or module `rand`\nunresolved import `crate::a`", ("zzz", "rand")),
    ("maven", "package a.b does not exist", ()),
])
def test_packages_that_a_failure_names(toolchain: str, text: str, expected: tuple[str, ...]) -> None:
    assert tuple(name for _, name in missing_imports(toolchain, text)) == expected


@pytest.mark.parametrize(("exists", "words"), [(True, "does not declare it"), (False, "no such project"), (None, "not installed")])
def test_a_missing_package_is_described(exists: bool | None, words: str) -> None:
    assert words in describe(Known("pypi", "zzz", exists))
