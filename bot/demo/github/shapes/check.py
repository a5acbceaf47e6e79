"""Check runs and check suites as GitHub writes them."""

from __future__ import annotations

from bot.demo.github.records import CheckRun, Json, Suite, instant, node_id
from bot.demo.github.shapes import commit, pull
from bot.demo.github.shapes.accounts import app
from bot.demo.github.shapes.site import Site

WORST_FIRST = ("failure", "timed_out", "cancelled", "action_required", "success", "neutral", "skipped")


def pulls(site: Site, suite: Suite) -> list[Json]:
    """The open pull requests of a commit; those from forks are not told."""
    return [pull.minimal(site, one) for one in suite.repository.pulls()
            if one.state == "open" and not one.from_fork and one.head_sha == suite.head_sha]


def check_run(site: Site, told: CheckRun) -> Json:
    """`check-run`."""
    url = f"{site.repository(told.repository)}/check-runs/{told.id}"
    page = f"{site.page(told.repository)}/runs/{told.id}"
    output = {"title": told.output.get("title"), "summary": told.output.get("summary"), "text": told.output.get("text"),
              "annotations_count": len(told.annotations), "annotations_url": f"{url}/annotations"}
    return {"id": told.id, "name": told.name, "node_id": node_id("CheckRun", told.id), "head_sha": told.head_sha, "external_id": told.external_id,
            "url": url, "html_url": page, "details_url": told.details_url or f"{site.web}/apps/{told.suite.app.slug}", "status": told.status,
            "conclusion": told.conclusion, "started_at": instant(told.started_at), "completed_at": instant(told.completed_at), "output": output,
            "check_suite": {"id": told.suite.id}, "app": app(site, told.suite.app), "pull_requests": pulls(site, told.suite)}


def in_webhook(site: Site, told: CheckRun) -> Json:
    """The `check_run` of a payload, which tells its suite."""
    suite = told.suite
    return {**check_run(site, told), "check_suite": {**_suite(site, suite), "app": app(site, suite.app)}}


def check_suite(site: Site, told: Suite) -> Json:
    """The `check_suite` of a payload."""
    return {**_suite(site, told), "app": app(site, told.app), "latest_check_runs_count": len(_runs(told)),
            "check_runs_url": f"{site.repository(told.repository)}/check-suites/{told.id}/check-runs",
            "head_commit": commit.in_payload(told.repository.git.commit(told.head_sha))}


def annotation(site: Site, told: CheckRun, one: Json) -> Json:
    """`check-annotation`."""
    keys = ("path", "start_line", "end_line", "start_column", "end_column", "annotation_level", "title", "message", "raw_details")
    return {**{key: one.get(key) for key in keys}, "blob_href": f"{site.page(told.repository)}/blob/{told.head_sha}/{one['path']}"}


def standing(told: Suite) -> tuple[str, str | None]:
    """A suite's status and conclusion: the worst of its latest runs."""
    runs = _runs(told)
    if not runs:
        return "queued", None
    if any(run.status != "completed" for run in runs):
        return "in_progress" if any(run.status != "queued" for run in runs) else "queued", None
    ended = {run.conclusion for run in runs}
    return "completed", next((word for word in WORST_FIRST if word in ended), "neutral")


def _runs(suite: Suite) -> list[CheckRun]:
    """The latest run of each name."""
    return list({run.name: run for run in suite.repository.checks if run.suite is suite}.values())


def _suite(site: Site, told: Suite) -> Json:
    status, conclusion = standing(told)
    return {"id": told.id, "node_id": node_id("CheckSuite", told.id), "head_branch": told.head_branch, "head_sha": told.head_sha, "status": status,
            "conclusion": conclusion, "url": f"{site.repository(told.repository)}/check-suites/{told.id}", "before": told.before, "after": told.head_sha,
            "pull_requests": pulls(site, told), "created_at": instant(told.created_at), "updated_at": instant(told.updated_at)}
