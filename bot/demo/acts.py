"""`dualgate demo`: a good and a bad change, verified and told."""

from __future__ import annotations

from collections.abc import Callable

from bot.changes.change import Request
from bot.demo.sample import make_sample
from bot.ledger.run_store import RunStore
from bot.reporting.terminal import render
from bot.settings import Settings
from bot.verification.verify import Order, new_run_id, verify
from sandbox.docker import DockerEngine
from sandbox.ownership import temporary_folder

Say = Callable[[str], None]


def play(settings: Settings, store: RunStore, engine: DockerEngine, tell: Say, say: Say) -> int:
    """0 only if the good change is verified and the bad one is rejected for the test that it breaks."""
    with temporary_folder("demo") as folder:
        sample = make_sample(folder)
        tell(f"A sample repository with a defect: discount() takes a tenth where it should take a hundredth.\n  {sample.path}\n")
        outcomes = []
        for act, head, words in (("1", sample.good, "a change that mends it, with a test"),
                                 ("2", sample.bad, "a change that mends it, with a test, and quietly breaks share()")):
            tell(f"Act {act}: {words}\n")
            report = verify(Order(sample.path, Request(sample.base, head), run_id=new_run_id()), settings, store, engine, say)
            verdict = report.to_json()
            tell(render(verdict))
            outcomes.append((verdict["verdict"], verdict["reason"], verdict["gates"]["pass_to_pass"]["failed"]))
    right = outcomes == [("verified", "verified", []), ("rejected", "regression", ["test_invoice.py::test_shares_add_up"])]
    tell("Both came out as they should." if right else f"Something is wrong: {outcomes}")
    return 0 if right else 1
