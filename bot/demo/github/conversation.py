"""Issues, comments, labels and reactions."""

from __future__ import annotations

from typing import Any

from bot.demo.github.records import App, Comment, Issue, Pull, Reaction, Repository, User
from bot.demo.github.refusals import invalid
from bot.demo.github.repositories import Repositories
from bot.demo.github.shapes import pull as pull_shapes
from bot.demo.github.shapes import thread as shapes
from bot.demo.github.shapes.repository import full
from bot.demo.github.state import RepositoryOrName

# https://docs.github.com/rest/issues/comments: GitHub stores bodies in a column of this many characters.
LONGEST_BODY = 65_536


class Conversation(Repositories):
    """What people and Apps say; `app` tells that a comment was made with an installation's token."""

    def open_issue(self, repository: RepositoryOrName, author: str, title: str, body: str | None = None) -> Issue:
        """A new issue."""
        with self.lock:
            target = self.repository(repository)
            made = Issue(self.next_id("issue"), self.next_number(target), target, self.add_user(author), title, body, self.now(), self.now())
            target.threads[made.number] = made
            self.emit("issues", "opened", target, made.author, issue=shapes.issue(self.site, made))
            return made

    def next_number(self, repository: Repository) -> int:
        """Issues and pull requests are numbered together."""
        number, repository.next_number = repository.next_number, repository.next_number + 1
        return number

    def edit_issue(self, actor: str, issue: Issue, *, title: str | None = None, body: str | None = None) -> None:
        """Change an issue's words."""
        with self.lock:
            changes = {"title": {"from": issue.title}} if title is not None else {"body": {"from": issue.body or ""}}
            issue.title, issue.body = issue.title if title is None else title, issue.body if body is None else body
            self._emit_issue("edited", issue, self.user(actor), changes=changes)

    def close_issue(self, actor: str, issue: Issue, reason: str = "completed") -> None:
        """Close an issue."""
        with self.lock:
            issue.state, issue.state_reason, issue.closed_at, issue.closed_by = "closed", reason, self.now(), self.user(actor)
            issue.note(self.user(actor), self.now(), f"closed this as {reason.replace('_', ' ')}")
            self._emit_issue("closed", issue, self.user(actor))

    def reopen_issue(self, actor: str, issue: Issue) -> None:
        """Open an issue again."""
        with self.lock:
            issue.state, issue.state_reason, issue.closed_at, issue.closed_by = "open", "reopened", None, None
            issue.note(self.user(actor), self.now(), "reopened this")
            self._emit_issue("reopened", issue, self.user(actor))

    def delete_issue(self, actor: str, issue: Issue) -> None:
        """Delete an issue; its number answers 404 from then on."""
        with self.lock:
            del issue.repository.threads[issue.number]
            self._emit_issue("deleted", issue, self.user(actor))

    def transfer_issue(self, actor: str, issue: Issue, repository: RepositoryOrName) -> Issue:
        """Move an issue to another repository of the same owner; the new one."""
        with self.lock:
            target = self.repository(repository)
            made = Issue(self.next_id("issue"), self.next_number(target), target, issue.author, issue.title, issue.body, issue.created_at, self.now())
            target.threads[made.number] = made
            del issue.repository.threads[issue.number]
            changes = {"new_issue": shapes.issue(self.site, made), "new_repository": full(self.site, target)}
            self._emit_issue("transferred", issue, self.user(actor), changes=changes)
            return made

    def comment(self, actor: str, thread: Issue, body: str, *, app: App | None = None) -> Comment:
        """A new comment on an issue or pull request. Raises Refusal where it is empty or too long."""
        check_body("IssueComment", body)
        with self.lock:
            made = Comment(self.next_id("comment"), self.user(actor), body, self.now(), self.now(), thread, app)
            thread.comments.append(made)
            thread.timeline.append(made)
            thread.updated_at = self.now()
            self._emit_comment("created", made, made.author)
            return made

    def edit_comment(self, actor: str, comment: Comment, body: str) -> None:
        """Change a comment's words."""
        check_body("IssueComment", body)
        with self.lock:
            old, comment.body, comment.updated_at = comment.body, body, self.now()
            self._emit_comment("edited", comment, self.user(actor), changes={"body": {"from": old}})

    def delete_comment(self, actor: str, comment: Comment) -> None:
        """Remove a comment."""
        with self.lock:
            comment.thread.comments.remove(comment)
            comment.thread.timeline.remove(comment)
            self._emit_comment("deleted", comment, self.user(actor))

    def react(self, actor: str, comment: Comment, content: str) -> tuple[Reaction, bool]:
        """(the reaction, whether it is new): each user reacts once in a way."""
        with self.lock:
            user = self.user(actor)
            for reaction in comment.reactions:
                if reaction.user is user and reaction.content == content:
                    return reaction, False
            comment.reactions.append(Reaction(self.next_id("reaction"), user, content, self.now()))
            return comment.reactions[-1], True

    def find_comment(self, repository: Repository, comment_id: int) -> Comment | None:
        """A comment of a repository by id, or None."""
        return next((one for thread in repository.threads.values() for one in thread.comments if one.id == comment_id), None)

    def add_label(self, actor: str, thread: Issue, name: str) -> None:
        """Put a label on an issue or pull request; one that is there already is no event."""
        with self.lock:
            label = self.label(thread.repository, name)
            if label not in thread.labels:
                thread.labels.append(label)
                thread.note(self.user(actor), self.now(), f"added the label {label.name}")
                self._emit_label("labeled", thread, label.name, self.user(actor))

    def remove_label(self, actor: str, thread: Issue, name: str) -> None:
        """Take a label off."""
        with self.lock:
            label = self.label(thread.repository, name)
            if label in thread.labels:
                thread.labels.remove(label)
                thread.note(self.user(actor), self.now(), f"removed the label {label.name}")
                self._emit_label("unlabeled", thread, label.name, self.user(actor))

    def _emit_label(self, action: str, thread: Issue, name: str, sender: User) -> None:
        told = shapes.label(self.site, thread.repository, self.label(thread.repository, name))
        if isinstance(thread, Pull):
            self.emit("pull_request", action, thread.repository, sender, number=thread.number, pull_request=pull_shapes.whole(self.site, thread), label=told)
        else:
            self._emit_issue(action, thread, sender, label=told)

    def _emit_issue(self, action: str, issue: Issue, sender: User, **fields: Any) -> None:
        issue.updated_at = self.now()
        self.emit("issues", action, issue.repository, sender, issue=shapes.issue(self.site, issue), **fields)

    def _emit_comment(self, action: str, comment: Comment, sender: User, **fields: Any) -> None:
        issue, told = shapes.issue(self.site, comment.thread), shapes.comment(self.site, comment)
        self.emit("issue_comment", action, comment.thread.repository, sender, issue=issue, comment=told, **fields)


def check_body(resource: str, body: object) -> None:
    """Raise Refusal, as GitHub does, for a body that is empty or too long."""
    if not isinstance(body, str) or not body.strip():
        raise invalid(resource, "data", "unprocessable", "Body can't be blank")
    if len(body) > LONGEST_BODY:
        raise invalid(resource, "data", "unprocessable", f"Body is too long (maximum is {LONGEST_BODY} characters)")
