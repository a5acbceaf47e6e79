"""Check runs and suites."""

from __future__ import annotations

from typing import Any

from bot.demo.github.records import CheckRun, Json, Repository
from bot.demo.github.refusals import malformed, not_found
from bot.demo.github.rest.call import Call, with_headers
from bot.demo.github.rest.door import Door
from bot.demo.github.shapes import check as shapes

READ, WRITE = ("checks:read",), ("checks:write",)


def register(door: Door) -> None:
    """Serve what is asked about checks."""
    here = "/repos/<owner>/<name>"
    door.route("POST", f"{here}/check-runs", needs=WRITE)(create_check_run)
    door.route("GET", f"{here}/check-runs/<int:check_run_id>", needs=READ)(get_check_run)
    door.route("PATCH", f"{here}/check-runs/<int:check_run_id>", needs=WRITE)(update_check_run)
    door.route("GET", f"{here}/check-runs/<int:check_run_id>/annotations", needs=READ)(list_annotations)
    door.route("GET", f"{here}/commits/<path:ref>/check-runs", needs=READ)(list_check_runs)
    door.route("GET", f"{here}/check-suites/<int:suite_id>/check-runs", needs=READ)(list_check_runs_of_suite)


def _find(repository: Repository, check_run_id: int) -> CheckRun:
    for run in repository.checks:
        if run.id == check_run_id:
            return run
    raise not_found()


def create_check_run(call: Call, repository: Repository) -> tuple[int, Json]:
    return 201, shapes.check_run(call.site, call.hub.create_check(call.app, repository, call.body()))


def get_check_run(call: Call, repository: Repository, check_run_id: int) -> Json:
    return shapes.check_run(call.site, _find(repository, check_run_id))


def update_check_run(call: Call, repository: Repository, check_run_id: int) -> Json:
    run = _find(repository, check_run_id)
    call.hub.update_check(call.app, run, call.body())
    return shapes.check_run(call.site, run)


def list_annotations(call: Call, repository: Repository, check_run_id: int) -> Any:
    run = _find(repository, check_run_id)
    page, headers = call.page(run.annotations)
    return with_headers([shapes.annotation(call.site, run, one) for one in page], headers)


def list_check_runs(call: Call, repository: Repository, ref: str) -> Any:
    sha = repository.git.resolve(ref)
    if sha is None:
        raise malformed(f"No commit found for SHA: {ref}")
    return _listed(call, [run for run in repository.checks if run.head_sha == sha])


def list_check_runs_of_suite(call: Call, repository: Repository, suite_id: int) -> Any:
    return _listed(call, [run for run in repository.checks if run.suite.id == suite_id])


def _listed(call: Call, runs: list[CheckRun]) -> Any:
    name, app_id, status = call.query("check_name"), call.query("app_id"), call.query("status")
    chosen = [run for run in runs if name in ("", run.name) and app_id in ("", str(run.suite.app.id)) and status in ("", run.status)]
    if call.query("filter", "latest") == "latest":
        chosen = list({(run.suite.id, run.name): run for run in chosen}.values())
    chosen.sort(key=lambda run: -run.id)
    page, headers = call.page(chosen)
    return with_headers({"total_count": len(chosen), "check_runs": [shapes.check_run(call.site, run) for run in page]}, headers)
