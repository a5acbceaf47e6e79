"""The pages themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, redirect, render_template, request, send_from_directory

from bot.demo.github.bare import Entry
from bot.demo.github.hub import Hub
from bot.demo.github.pages import diffs, looks, markdown
from bot.demo.github.records import CheckRun, Comment, Issue, Json, Pull, Repository, User
from bot.demo.github.state import Unknown

HERE = Path(__file__).parent.parent
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
POLICY = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"


class Pages:
    """What people see; `blueprint` holds the routes."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.blueprint = Blueprint("pages", __name__, template_folder=str(HERE / "templates"))
        self.blueprint.app_context_processor(self._everywhere)
        self.blueprint.after_request(guard)
        self.blueprint.get("/assets/<name>")(_asset)
        self.blueprint.get("/avatars/u/<int:user_id>")(self._avatar)
        self._serve("/", self.repositories)
        self._serve("/-/webhooks", self.webhooks)
        self._serve("/<login>", self.account)
        self._serve("/apps/<slug>", self.bot)
        for rule, view in (("", self.code), ("/tree/<ref>/", self.code), ("/tree/<ref>/<path:path>", self.code), ("/blob/<ref>/<path:path>", self.blob),
                           ("/commit/<sha>", self.commit), ("/issues", self.issues), ("/pulls", self.pulls), ("/issues/<int:number>", self.thread),
                           ("/pull/<int:number>", self.thread), ("/pull/<int:number>/files", self.changes), ("/runs/<int:check_run_id>", self.run)):
            self._serve(f"/<owner>/<name>{rule}", view)

    def _serve(self, rule: str, view: Callable[..., Any]) -> None:
        def answer(**arguments: Any) -> Any:
            with self.hub.lock:
                if "owner" in arguments:
                    arguments["repository"] = self.found(arguments.pop("owner"), arguments.pop("name"))
                return view(**arguments)
        self.blueprint.add_url_rule(rule, f"{view.__name__} {rule}".replace(".", "-"), answer, methods=["GET"])

    def found(self, owner: str, name: str) -> Repository:
        """A repository, or 404."""
        repository = self.hub.find_repository(f"{owner}/{name}")
        if repository is None:
            abort(404)
        return repository

    def visitor(self) -> User | None:
        """The person who looks: chosen on the page, or the hub's own."""
        login = request.cookies.get("visitor") or self.hub.visitor
        people = self.people()
        return next((one for one in people if one.login == login), people[0] if people else None)

    def people(self) -> list[User]:
        """Everybody who could sit before the screen, those with a role first."""
        known = {login for repository in self.hub.repositories.values() for login in repository.roles}
        return sorted((one for one in self.hub.users.values() if one.kind == "User"), key=lambda one: one.login.lower() not in known)

    def _everywhere(self) -> Json:
        now, web = self.hub.now(), self.hub.url
        return {"visitor": self.visitor(), "people": self.people(), "ago": lambda moment: looks.ago(moment, now), "looks": looks, "now": now,
                "comment_html": lambda text, repository: markdown.comment(text, repository, web),
                "document_html": lambda text, repository: markdown.document(text, repository, web), "is_comment": lambda one: isinstance(one, Comment),
                "is_pull": lambda one: isinstance(one, Pull), "latest": self.latest}

    def latest(self, thread: Pull) -> list[CheckRun]:
        """The newest check runs of a pull request's head."""
        return self.hub.latest_checks(thread.repository, thread.head_sha)

    def _avatar(self, user_id: int) -> Response:
        user = next((one for one in self.hub.users.values() if one.id == user_id), None)
        if user is None:
            abort(404)
        return Response(looks.avatar(user), mimetype="image/svg+xml")

    def repositories(self) -> str:
        listed = [one for one in self.hub.repositories.values() if not one.deleted]
        return render_template("repositories.html", repositories=listed)

    def account(self, login: str) -> str:
        user = self.hub.users.get(login.lower())
        if user is None:
            abort(404)
        listed = [one for one in self.hub.repositories.values() if not one.deleted and one.owner is user]
        return render_template("repositories.html", repositories=listed, account=user)

    def bot(self, slug: str) -> str:
        return self.account(f"{slug}[bot]")

    def webhooks(self) -> str:
        return render_template("webhooks.html", deliveries=self.hub.deliveries[::-1][:200], held=self.hub.courier.held)

    def code(self, repository: Repository, ref: str | None = None, path: str = "") -> str:
        git, chosen = repository.git, ref or repository.default_branch
        sha = git.resolve(chosen)
        folder = None if sha is None else git.entry(sha, path.rstrip("/"))
        if sha is None or folder is None or folder.kind != "tree":
            abort(404)
        entries = sorted(git.listing(folder.sha), key=lambda one: (one.kind != "tree", one.path))
        branches = [one.removeprefix("refs/heads/") for one in git.refs() if one.startswith("refs/heads/")]
        return render_template("code.html", repository=repository, ref=chosen, path=folder.path, entries=entries, commit=git.commit(sha),
                               branches=branches, readme=_readme(repository, entries))

    def blob(self, repository: Repository, ref: str, path: str) -> str:
        sha = repository.git.resolve(ref)
        if sha is None or repository.git.entry(sha, path) is None:
            abort(404)
        return render_template("blob.html", repository=repository, ref=ref, path=path, lines=diffs.lines_of(repository, sha, path))

    def commit(self, repository: Repository, sha: str) -> str:
        known = repository.git.resolve(sha)
        if known is None:
            abort(404)
        commit = repository.git.commit(known)
        files = diffs.files(repository.git.diff(commit.parents[0] if commit.parents else EMPTY_TREE, known), [])
        return render_template("commit.html", repository=repository, commit=commit, files=files, runs=self.hub.latest_checks(repository, known))

    def issues(self, repository: Repository) -> str:
        listed = [one for one in repository.threads.values() if not isinstance(one, Pull)]
        return render_template("threads.html", repository=repository, threads=listed[::-1], tab="issues")

    def pulls(self, repository: Repository) -> str:
        return render_template("threads.html", repository=repository, threads=repository.pulls(), tab="pulls")

    def thread(self, repository: Repository, number: int) -> Any:
        thread = self.thread_of(repository, number)
        right = "pull" if isinstance(thread, Pull) else "issues"
        if f"/{right}/" not in request.path:
            return redirect(f"/{repository.full_name}/{right}/{number}")
        runs = self.latest(thread) if isinstance(thread, Pull) else []
        composing = "compose" in request.args
        return render_template("thread.html", repository=repository, thread=thread, runs=runs, composing=composing, tab=right,
                               refresh=not composing and _unfinished(runs))

    def thread_of(self, repository: Repository, number: int) -> Issue:
        """An issue or pull request, or 404."""
        try:
            return self.hub.issue(repository, number)
        except Unknown:
            abort(404)

    def changes(self, repository: Repository, number: int) -> str:
        thread = self.thread_of(repository, number)
        if not isinstance(thread, Pull):
            abort(404)
        start = repository.git.merge_base(thread.base_sha, thread.head_sha) or thread.base_sha
        runs = self.latest(thread)
        annotations = [{**one, "run": run} for run in runs for one in run.annotations]
        files = diffs.files(repository.git.diff(start, thread.head_sha), annotations)
        return render_template("changes.html", repository=repository, thread=thread, files=files, tab="pull", runs=runs)

    def run(self, repository: Repository, check_run_id: int) -> str:
        run = next((one for one in repository.checks if one.id == check_run_id), None)
        if run is None:
            abort(404)
        history = [one for one in repository.checks if one.suite is run.suite and one.name == run.name]
        pulls = [one for one in repository.pulls() if one.head_sha == run.head_sha]
        return render_template("run.html", repository=repository, run=run, files=diffs.excerpts(run), history=history[::-1], pulls=pulls,
                               tab="pull", refresh=run.status != "completed")


def _readme(repository: Repository, entries: list[Entry]) -> str | None:
    for entry in entries:
        if entry.path.lower() == "readme.md":
            return repository.git.blob(entry.sha).decode("utf-8", "replace")
    return None


def _unfinished(runs: list[CheckRun]) -> bool:
    return any(run.status != "completed" for run in runs)


def _asset(name: str) -> Response:
    return send_from_directory(HERE / "static", name)


def guard(response: Response) -> Response:
    """A page with the policy that lets nothing of another site in, unless it has one of its own."""
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
