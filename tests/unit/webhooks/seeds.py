"""Settings, deliveries and runs as the tests of the door need them."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
import uuid
from pathlib import Path
from typing import Any

from bot.app_settings import AppSettings
from bot.ledger.database import Database
from bot.ledger.models import Cost, EvidenceRow, Run, Subject, VerdictDocument

SECRET, APP_ID, TOKEN = "It's a Secret to Everybody", 7719, "correct horse battery staple"

DIFF = """diff --git a/shop/prices.py b/shop/prices.py
index 1111111..2222222 100644
--- a/shop/prices.py
+++ b/shop/prices.py
@@ -1,5 +1,6 @@
 from decimal import Decimal
\x20
\x20
 def total(lines):
-    return sum(line.price for line in lines)
+    net = sum(line.price * line.count for line in lines)
+    return net.quantize(Decimal("0.01"))
"""


def settings_for(data_dir: Path, **more: Any) -> AppSettings:
    values: dict[str, Any] = {
        "app_id": APP_ID, "webhook_secrets": (SECRET,), "api_url": "https://api.github.com", "server_url": "https://github.example", "data_dir": data_dir,
        "redis_url": None, "database_url": f"sqlite:///{data_dir / 'dualgate.sqlite3'}", "port": 8000, "public_url": "http://localhost:8000",
        "admin_token": None, "minutes_per_repo_day": 240.0}
    return AppSettings(**{**values, **more})


def signed(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers_of(body: bytes, event: str = "pull_request", guid: str = "", **more: str) -> dict[str, str]:
    known = {"X-GitHub-Event": event, "X-GitHub-Delivery": guid or str(uuid.uuid4()), "X-Hub-Signature-256": signed(body), "Content-Type": "application/json"}
    return {**known, **{name.replace("_", "-"): value for name, value in more.items()}}


def payload(action: str = "opened", **more: Any) -> bytes:
    return json.dumps({"action": action, "number": 12, **more}).encode()


def row(name: str, base: str | None = "passed", patched: str | None = "passed", category: str = "P2P", **more: Any) -> dict[str, Any]:
    return {"id": name, "base": base, "patched": patched, "category": category, "plan": 0, "from": "base", "file": name.split("::")[0], "line": 3,
            "message": None, "seconds": 0.01, **more}


def verdict_of(word: str = "verified", reason: str = "verified", **more: Any) -> dict[str, Any]:
    """A whole verdict document; keywords replace its parts."""
    values: dict[str, Any] = {
        "schema": "dualgate/verdict/v1", "run": "r", "verdict": word, "reason": reason,
        "summary": "verified: 1 test fails on base and passes with the change; 2 that passed before still pass", "findings": [],
        "base": "b" * 40, "head": "a" * 40, "patch_sha256": "c" * 64, "repository": "acme/shop",
        "plans": [{"toolchain": "python", "framework": "pytest", "image": "sha256:" + "d" * 64, "environment_key": "f96007f41e0cb56ec093e729",
                   "environment_cached": False, "runtime": "runc", "python": "3.11.2", "install": ["uv pip install -e ."], "build": [], "test": ["pytest"],
                   "tried": ["virtual environment: ok (0.3 s)", "editable: ok (1.7 s)"], "dropped": []}],
        "gates": {"fail_to_pass": {"status": "passed", "origin": "patch-tests", "passed": ["tests/test_prices.py::test_counts"], "failed": []},
                  "pass_to_pass": {"status": "passed", "passed": 2, "failed": [], "missing": [], "flaky": [], "already_failing": [], "skipped_now": []}},
        "tests": [row("tests/test_prices.py::test_counts", "failed", "passed", "F2P", **{"from": "change"}), row("tests/test_shop.py::test_open"),
                  row("tests/test_shop.py::test_close")],
        "timing": {"environment_s": 14.4, "base_s": 2.0, "patched_s": 1.9, "reproducer_s": 2.4, "total_s": 20.9},
        "cost": {"usd": 0.0, "input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "requests": 0, "by_model": [], "seconds": 20.9},
        "evidence": {"runs": [], "replay": "git fetch origin pull/12/head && dualgate verify . --base bbbb --head aaaa"}}
    return {**values, **more}


def rejected(name: str = "tests/test_shop.py::test_close", message: str = "AssertionError: assert 3 == 4", **more: Any) -> dict[str, Any]:
    """A regression of one test."""
    gates = verdict_of()["gates"]
    gates["pass_to_pass"].update(status="failed", passed=1, failed=[name])
    findings = [{"code": "regression", "severity": "blocker", "detail": "1 test passed before and not now", "paths": [], "tests": [name]},
                {"code": "assertion", "severity": "warning", "detail": f"{message}\ninside the change: shop/prices.py:6 in total",
                 "paths": ["shop/prices.py:6"], "tests": [name]}]
    values = {"summary": "rejected: regression - 1 test passed before and not now", "gates": gates, "findings": findings,
              "tests": [*verdict_of()["tests"][:2], row(name, "passed", "failed", "P2F", message=message)]}
    return verdict_of("rejected", "regression", **{**values, **more})


def add_run(database: Database, run_id: str, **more: Any) -> str:
    """A row of the run table; finished where it has a verdict."""
    now = time.time()
    values: dict[str, Any] = {
        "id": run_id, "subject": "501/pull/12", "installation_id": 9, "repository_id": 501, "repository": "acme/shop", "pull_number": 12,
        "title": "Count each line when adding up", "author": "devin-ai-integration[bot]", "head_sha": "a" * 40, "head_ref": "fix/total", "base_ref": "main",
        "base_sha": "b" * 40, "from_fork": False, "cause": "agent", "actor": "", "hint": "", "policy": "{}", "state": "queued", "why": "", "created_at": now,
        "started_at": None, "finished_at": None, "holder": "", "held_until": 0.0, "tries": 0, "check_run_id": 31, "reported": False, "progress": "[]",
        "verdict": "", "reason": "", "summary": "", "conclusion": ""}
    values.update(more)
    with database.session() as session:
        if session.get(Subject, values["subject"]) is None:
            session.add(Subject(id=values["subject"], generation=0, labelled=False, commented_run=""))
            session.flush()
        session.add(Run(**values))
    return run_id


def add_finished(database: Database, run_id: str, verdict: dict[str, Any], diff: str = DIFF, boxes: tuple[dict[str, Any], ...] = (), **more: Any) -> str:
    """A run with its verdict, its boxes and its bill."""
    now = time.time()
    values: dict[str, Any] = {"state": "finished", "started_at": now - 21, "finished_at": now, "verdict": verdict["verdict"], "reason": verdict["reason"],
                              "summary": verdict["summary"], "conclusion": "success", "reported": True, **more}
    add_run(database, run_id, **values)
    with database.session() as session:
        session.add(VerdictDocument(run_id=run_id, document=json.dumps(verdict), diff=diff))
        session.add(Cost(run_id=run_id, repository_id=501, at=now, usd=0.0, input_tokens=0, output_tokens=0, seconds=21.0))
        for box in boxes:
            session.add(EvidenceRow(**{"run_id": run_id, "side": "patched", "command": "pytest", "exit_status": 1, "seconds": 0.6, "image": "sha256:1", "log": "",
                                       "output": "", **box}))
    return run_id
