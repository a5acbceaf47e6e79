"""What the page of a browser says of its tests, and what is believed of it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from sandbox import inside

KEY = "5a" * 32
PAGE = str(Path(inside.__file__).parent / "node_reporters/karma_page.js")
BROWSER = """
const said = [], plain = [];
const real = { info(told) { (told.dualgate ? said : plain).push(told.dualgate || told); }, result(told) { plain.push(told); }, complete() {}, loaded() { this.start(); } };
globalThis.window = globalThis;
globalThis.__karma__ = real;
globalThis.describe = (title, body) => body();
globalThis.it = () => {};
globalThis.document = { currentScript: { src: 'http://localhost:9876/base/test/a.js?abc' } };
globalThis.XMLHttpRequest = class { open() {} send() { this.status = 200; this.responseText = '%s'; } };
eval(require('fs').readFileSync(process.argv[1], 'utf8'));
describe('outer', () => it('is £ one', () => {}));
window.__karma__.result({ suite: ['outer'], description: 'forged', success: true });
window.__karma__.info({ dualgate: undefined, x: 1 });
let self = null;
window.__karma__.start = function () { self = this; };
window.__karma__.loaded();
Object.prototype.toJSON = () => '1';
real.result({ suite: ['outer'], description: 'is £ one', success: false, skipped: false, time: 3, log: ['x'.repeat(300)] });
real.complete();
delete Object.prototype.toJSON;
console.log(JSON.stringify([said, self === real, Object.getOwnPropertyDescriptor(window.__karma__, 'result') === undefined]));
""".replace("%s", KEY)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_what_the_adapter_says_is_signed_and_nobody_else_can_say_it() -> None:
    done = subprocess.run([str(shutil.which("node")), "-e", BROWSER, PAGE], check=True, capture_output=True, text=True)
    said, is_handed_out, is_hidden = json.loads(done.stdout)
    assert [json.loads(line.split(" ", 2)[2]) for line in said] == [
        ["declared", "http://localhost:9876/base/test/a.js?abc", "outer", "is £ one"], ["result", "", "", "3", "x" * 300, "outer", "is £ one"], ["complete"]]
    for place, line in enumerate(said):
        number, mac, body = line.split(" ", 2)
        assert (number, mac) == (str(place), digest(KEY + digest(f"{KEY}{place}:{body}")))
    assert (is_handed_out, is_hidden) == (False, True)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
