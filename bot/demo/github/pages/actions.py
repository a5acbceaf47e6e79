"""The buttons on the pages: each does to the hub what the same button does on GitHub."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, abort, redirect, request

from bot.demo.github.pages.views import Pages
from bot.demo.github.records import Pull, Repository, User
from bot.demo.github.refusals import Refusal


class Actions:
    """What people do; `blueprint` holds the routes."""

    def __init__(self, pages: Pages) -> None:
        self.pages, self.hub = pages, pages.hub
        self.blueprint = Blueprint("actions", __name__)
        self.blueprint.post("/-/visitor")(self.choose_visitor)
        self.blueprint.post("/-/webhooks/<guid>")(self.redeliver)
        for rule, action in (("/runs/<int:check_run_id>/rerequest", self.rerequest), ("/runs/<int:check_run_id>/rerequest-all", self.rerequest_all),
                             ("/runs/<int:check_run_id>/action", self.request_action), ("/issues/<int:number>/comment", self.comment),
                             ("/issues/<int:number>/label", self.label), ("/pull/<int:number>/ready", self.ready), ("/pull/<int:number>/merge", self.merge)):
            self._serve(f"/<owner>/<name>{rule}", action)

    def _serve(self, rule: str, action: Callable[..., str]) -> None:
        def answer(owner: str, name: str, **arguments: Any) -> Any:
            refuse_foreign_forms()
            repository, visitor = self.pages.found(owner, name), self.pages.visitor()
            if visitor is None:
                abort(403)
            try:
                target = action(repository, visitor, **arguments)
            except (ValueError, LookupError, Refusal) as error:
                abort(422, description=str(error))
            return redirect(f"/{repository.full_name}/{target}", 303)
        self.blueprint.add_url_rule(rule, rule.rsplit("/", 1)[-1], answer, methods=["POST"])

    def choose_visitor(self) -> Any:
        """Look at the pages as somebody else."""
        refuse_foreign_forms()
        answer = redirect(_back(), 303)
        answer.set_cookie("visitor", request.form.get("login", ""), samesite="Strict")
        return answer

    def redeliver(self, guid: str) -> Any:
        """Send a webhook again."""
        refuse_foreign_forms()
        self.hub.redeliver(guid)
        self.hub.courier.settle(5)
        return redirect("/-/webhooks", 303)

    def rerequest(self, repository: Repository, visitor: User, check_run_id: int) -> str:
        self._need_write(repository, visitor)
        self.hub.rerequest(check_run_id, visitor.login)
        return self._after(repository, check_run_id)

    def rerequest_all(self, repository: Repository, visitor: User, check_run_id: int) -> str:
        self._need_write(repository, visitor)
        self.hub.rerequest_suite(check_run_id, visitor.login)
        return self._after(repository, check_run_id)

    def request_action(self, repository: Repository, visitor: User, check_run_id: int) -> str:
        self._need_write(repository, visitor)
        self.hub.request_action(check_run_id, request.form["identifier"], visitor.login)
        return self._after(repository, check_run_id)

    def comment(self, repository: Repository, visitor: User, number: int) -> str:
        thread = self.pages.thread_of(repository, number)
        made = self.hub.comment(visitor.login, thread, request.form["body"].replace("\r\n", "\n"))
        return f"issues/{number}#issuecomment-{made.id}"

    def label(self, repository: Repository, visitor: User, number: int) -> str:
        if not self.hub.may(repository, visitor, "triage"):
            abort(403)
        thread = self.pages.thread_of(repository, number)
        change = self.hub.remove_label if request.form.get("remove") else self.hub.add_label
        change(visitor.login, thread, request.form["name"].strip())
        return f"issues/{number}"

    def ready(self, repository: Repository, visitor: User, number: int) -> str:
        self._need_write(repository, visitor)
        self.hub.ready_for_review(self._pull(repository, number), by=visitor.login)
        return f"pull/{number}"

    def merge(self, repository: Repository, visitor: User, number: int) -> str:
        self._need_write(repository, visitor)
        self.hub.merge_pull(self._pull(repository, number), by=visitor.login)
        return f"pull/{number}"

    def _pull(self, repository: Repository, number: int) -> Pull:
        found = self.pages.thread_of(repository, number)
        if not isinstance(found, Pull) or found.state != "open":
            abort(404)
        return found

    def _need_write(self, repository: Repository, visitor: User) -> None:
        if not self.hub.may(repository, visitor, "write"):
            abort(403)

    def _after(self, repository: Repository, check_run_id: int) -> str:
        """Where to go after a button of a check: to the pull request, where the new run will show, if there is one."""
        run = self.hub.check(check_run_id)
        pulls = [one for one in repository.pulls() if one.head_sha == run.head_sha and one.state == "open"]
        return f"pull/{pulls[0].number}" if pulls else f"runs/{check_run_id}"


def refuse_foreign_forms() -> None:
    """Answer 403 to a form that another site sent."""
    origin = request.headers.get("Origin")
    if origin is not None and origin != request.host_url.rstrip("/"):
        abort(Response("Forbidden\n", 403))


def _back() -> str:
    path = request.form.get("back", "/")
    return path if path.startswith("/") and not path.startswith("//") else "/"
