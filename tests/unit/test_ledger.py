"""Claims and leases, on a real SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from bot.ledger.database import Database
from bot.ledger.deliveries import MOST_TRIES, Deliveries
from bot.ledger.models import Delivery, Run
from bot.ledger.runs import Ended, NewRun, Runs
from bot.ledger.subjects import Subjects

VERDICT: dict[str, Any] = {
    "verdict": "verified", "reason": "verified", "summary": "fine", "cost": {"usd": 0.0, "input_tokens": 0, "output_tokens": 0, "seconds": 90.0},
    "evidence": {"runs": [{"side": "base", "command": "pytest", "exit_status": 0, "seconds": 1.0, "image": "sha256:1", "log": "/x/1.log"}]}}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{tmp_path}/ledger.sqlite3")
    made.migrate()
    yield made
    made.close()


def new(subject: str = "7/pull/1", sha: str = "a" * 40, base: str = "main") -> NewRun:
    return NewRun(subject, 5, 7, "maria/invoice", 1, "Title", "tom", sha, "x", base, "b" * 40, False, "agent")


def age(database: Database, table: Any) -> None:
    with database.session() as session:
        session.execute(update(table).values(held_until=1.0))


def test_migrating_twice_changes_nothing(database: Database) -> None:
    database.migrate()
    assert database.answers()


def test_a_delivery_is_taken_once_and_done_once(database: Database) -> None:
    deliveries = Deliveries(database)
    assert deliveries.record("g", "ping", "", "{}")
    held = deliveries.hold("g", "me", 60)
    assert held is not None
    assert held.payload == {}
    assert deliveries.hold("g", "other", 60) is None
    assert not deliveries.record("g", "ping", "", "{}"), "a redelivery of what is being worked on"
    deliveries.done("g", "fine")
    assert not deliveries.record("g", "ping", "", "{}"), "a redelivery of what is done"
    assert deliveries.hold("g", "other", 60) is None


def test_a_delivery_whose_holder_died_is_taken_again(database: Database) -> None:
    deliveries = Deliveries(database)
    deliveries.record("g", "ping", "", "{}")
    deliveries.hold("g", "me", 60)
    assert deliveries.overdue(0) == []
    age(database, Delivery)
    assert deliveries.overdue(0) == ["g"]
    again = deliveries.hold("g", "other", 60)
    assert again is not None
    assert again.tries == 2


def test_what_github_is_away_for_is_not_given_up(database: Database) -> None:
    deliveries = Deliveries(database)
    deliveries.record("g", "ping", "", "{}")
    for _ in range(MOST_TRIES * 2):
        assert deliveries.hold("g", "me", 60)
        deliveries.put_back("g", "GitHub is away", 0.0, counts=False)
        age(database, Delivery)
    assert deliveries.hold("g", "me", 60) is not None


def test_a_delivery_is_given_up_in_the_end(database: Database) -> None:
    deliveries = Deliveries(database)
    deliveries.record("g", "ping", "", "{}")
    for _ in range(MOST_TRIES):
        assert deliveries.hold("g", "me", 60)
        deliveries.put_back("g", "GitHub is away", 0.0)
        age(database, Delivery)
    assert deliveries.hold("g", "me", 60) is None


def test_the_latest_run_of_a_subject_wins(database: Database) -> None:
    runs = Runs(database)
    first, none = runs.create(new())
    assert first is not None
    assert none == []
    assert runs.create(new())[0] is None, "the same head and base"
    second, superseded = runs.create(new(sha="c" * 40))
    assert second is not None
    assert [run.id for run in superseded] == [first.id]
    assert runs.create(new("7/pull/2"))[0] is not None, "another pull request is another matter"
    assert {run.id for run in runs.lost()} == {second.id, runs.latest("7/pull/2").id}  # type: ignore[union-attr]


def test_the_same_head_is_run_again_only_when_asked(database: Database) -> None:
    runs = Runs(database)
    first, _ = runs.create(new())
    assert first is not None
    assert runs.take(first.id, "me")
    assert runs.create(new(), again=True)[0] is None, "it runs"
    assert runs.finish(first.id, "me", VERDICT, "success", "diff", {"/x/1.log": "out"})
    assert runs.create(new())[0] is None
    assert runs.create(new(base="release"))[0] is not None
    assert runs.create(new(), again=True)[0] is not None


def test_a_green_of_another_base_or_pull_request_makes_an_earlier_run_count_no_more(database: Database) -> None:
    runs = Runs(database)
    for subject, base in (("7/pull/1", "main"), ("7/pull/1", "weak"), ("7/pull/1", "main"), ("7/pull/2", "weak"), ("7/pull/1", "main")):
        run, _ = runs.create(new(subject, base=base))
        assert run is not None, (subject, base)
        runs.take(run.id, "me")
        runs.finish(run.id, "me", VERDICT, "success", "", {})
    assert runs.create(new())[0] is None, "the commit's check is of this very run"


def test_a_push_back_to_a_head_that_was_run_stops_the_other(database: Database) -> None:
    runs = Runs(database)
    first, _ = runs.create(new())
    assert first is not None
    runs.take(first.id, "me")
    runs.finish(first.id, "me", VERDICT, "success", "", {})
    other, _ = runs.create(new(sha="c" * 40))
    assert other is not None
    back, superseded = runs.create(new())
    assert (back, [run.id for run in superseded]) == (None, [other.id])


def test_one_delivery_asks_for_one_run(database: Database) -> None:
    runs = Runs(database)
    asked = replace(new(), delivery="guid")
    first, _ = runs.create(asked, again=True)
    assert first is not None
    runs.take(first.id, "me")
    runs.finish(first.id, "me", VERDICT, "success", "", {})
    assert runs.create(asked, again=True)[0] is None
    assert runs.create(replace(asked, delivery="another"), again=True)[0] is not None


def test_a_run_that_ends_at_once_is_never_taken(database: Database) -> None:
    runs = Runs(database)
    run, _ = runs.create(new(), ended=Ended("configuration", "line 1", "action_required"))
    assert run is not None
    assert runs.take(run.id, "me") is None
    assert runs.lost() == []
    assert [one.id for one in runs.unreported()] == [run.id]


def test_one_process_at_a_time_speaks_of_a_run(database: Database) -> None:
    runs = Runs(database)
    run, _ = runs.create(new())
    assert run is not None
    assert runs.speak(run.id, 60)
    assert not runs.speak(run.id, 60)
    runs.fall_silent(run.id)
    assert runs.speak(run.id, 60)
    assert [runs.ask_for_check(run.id), runs.ask_for_check(run.id)] == [True, False]


def test_a_run_is_held_by_one_and_its_finish_counts_only_while_it_is_held(database: Database) -> None:
    runs = Runs(database)
    run, _ = runs.create(new())
    assert run is not None
    assert runs.take(run.id, "me")
    assert runs.take(run.id, "other") is None
    assert runs.renew(run.id, "me")
    age(database, Run)
    assert [lost.id for lost in runs.lost()] == [run.id]
    taken = runs.take(run.id, "other")
    assert taken is not None
    assert taken.tries == 2
    assert not runs.renew(run.id, "me")
    assert not runs.finish(run.id, "me", VERDICT, "success", "", {})
    assert runs.finish(run.id, "other", VERDICT, "success", "diff", {"/x/1.log": "out"})
    assert [row.output for row in runs.evidence(run.id)] == ["out"]
    assert runs.document(run.id) == (VERDICT, "diff")
    assert [one.id for one in runs.unreported()] == [run.id]


def test_the_minutes_of_cancelled_runs_count_too(database: Database) -> None:
    runs = Runs(database)
    run, _ = runs.create(new())
    assert run is not None
    runs.take(run.id, "me")
    runs.cancel("7/pull/1", "closed")
    runs.update(run.id, started_at=1000.0, finished_at=1090.0)
    assert runs.minutes_since(7, 0) == 1.5


def test_a_cancelled_run_can_be_neither_renewed_nor_finished(database: Database) -> None:
    runs = Runs(database)
    run, _ = runs.create(new())
    assert run is not None
    runs.take(run.id, "me")
    assert [one.id for one in runs.cancel("7/pull/1", "closed")] == [run.id]
    assert not runs.renew(run.id, "me")
    assert not runs.finish(run.id, "me", VERDICT, "success", "", {})
    assert runs.take(run.id, "me") is None


def test_a_run_that_is_handed_back_costs_no_try(database: Database) -> None:
    runs = Runs(database)
    run, _ = runs.create(new())
    assert run is not None
    runs.take(run.id, "me")
    runs.hand_back(run.id, "me")
    taken = runs.take(run.id, "other")
    assert taken is not None
    assert taken.tries == 1


def test_text_that_a_database_refuses_is_kept_all_the_same(database: Database) -> None:
    runs = Runs(database)
    run, _ = runs.create(replace(new(), title="nul \0 and half a pair \ud800"))
    assert run is not None
    runs.take(run.id, "me")
    told = {**VERDICT, "summary": "in caf\udce9.py \0"}
    assert runs.finish(run.id, "me", told, "success", "+\0\udc80", {"/x/1.log": "\udc80\0"})
    kept = runs.load(run.id)
    assert kept is not None
    assert (kept.title + kept.summary).encode("utf-8").count(b"\0") == 0


def test_one_refusal_a_person_and_thread(database: Database) -> None:
    subjects = Subjects(database)
    assert subjects.may_refuse(7, 1, 2)
    assert not subjects.may_refuse(7, 1, 2)
    assert subjects.may_refuse(7, 2, 2)


def test_what_is_remembered_of_a_subject_is_kept_apart(database: Database) -> None:
    subjects, runs = Subjects(database), Runs(database)
    runs.create(new())
    subjects.set_labelled("7/pull/1", True)
    subjects.set_comment("7/pull/1", 99, "run")
    assert subjects.is_labelled("7/pull/1")
    assert subjects.comment("7/pull/1") == 99
    subjects.set_labelled("7/pull/1", False)
    assert subjects.comment("7/pull/1") == 99


def test_purging_leaves_other_installations(database: Database) -> None:
    subjects, runs = Subjects(database), Runs(database)
    run, _ = runs.create(new())
    assert run is not None
    other, _ = runs.create(NewRun("8/pull/1", 6, 8, "tom/other", 1, "", "tom", "a" * 40, "x", "main", "b" * 40, False, "agent"))
    assert other is not None
    runs.take(run.id, "me")
    runs.finish(run.id, "me", VERDICT, "success", "", {})
    assert subjects.purge(5) == ([run.id], {7})
    assert runs.load(run.id) is None
    assert runs.load(other.id) is not None
