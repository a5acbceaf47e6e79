"""Pull requests: opened, followed as their branches move, retargeted, merged, queued."""

from __future__ import annotations

from typing import Any, Literal

from bot.demo.github.conversation import Conversation
from bot.demo.github.records import App, Pull, Repository, User
from bot.demo.github.refusals import Refusal, invalid
from bot.demo.github.shapes import commit
from bot.demo.github.shapes import pull as shapes
from bot.demo.github.state import RepositoryOrName


class Pulls(Conversation):
    """The life of a pull request."""

    def open_pull(self, repository: RepositoryOrName, author: str, title: str, body: str | None, head: str, base: str = "main",
                  head_repository: RepositoryOrName | None = None, draft: bool = False, *, app: App | None = None) -> Pull:
        """Ask to merge a branch. Raises Refusal where GitHub answers 422."""
        with self.lock:
            target = self.repository(repository)
            source = target if head_repository is None else self.repository(head_repository)
            head_sha, base_sha = _ends(target, source, head, base)
            made = Pull(self.next_id("issue"), self.next_number(target), target, self.add_user(author), title, body, self.now(), self.now(), app=app,
                        pull_id=self.next_id("pull"), base_ref=base, base_sha=base_sha, head_ref=head, head_sha=head_sha, head_repository=source,
                        head_owner=source.owner, draft=draft)
            self._refresh(made)
            target.threads[made.number] = made
            self.emit_pull("opened", made, made.author)
            return made

    def emit_pull(self, action: str, pull: Pull, sender: User, **fields: Any) -> None:
        """Tell of a pull request."""
        pull.updated_at = self.now()
        self.emit("pull_request", action, pull.repository, sender, number=pull.number, pull_request=shapes.whole(self.site, pull), **fields)

    def _actor(self, pull: Pull, by: str | None) -> User:
        return pull.author if by is None else self.user(by)

    def _refresh(self, pull: Pull) -> None:
        """Bring `refs/pull/N/*` and the trial merge up to date."""
        git = pull.repository.git
        if pull.head_repository is not None and pull.from_fork:
            git.fetch(pull.head_repository.git.path, pull.head_sha)
        git.move(f"refs/pull/{pull.number}/head", pull.head_sha)
        pull.base_sha = git.branch(pull.base_ref) or pull.base_sha
        pull.merge_sha = git.merge(pull.base_sha, pull.head_sha, f"Merge {pull.head_sha} into {pull.base_sha}")
        pull.mergeable = pull.merge_sha is not None
        if pull.merge_sha is not None:
            git.move(f"refs/pull/{pull.number}/merge", pull.merge_sha)

    def follow_head(self, pull: Pull, new: str | None, sender: User) -> None:
        """A push to the head is a `synchronize`; a deleted head closes."""
        if new is None:
            self.close_pull(pull, by=sender.login)
            return
        before, pull.head_sha = pull.head_sha, new
        forced = pull.head_repository is not None and not pull.head_repository.git.is_ancestor(before, new)
        pull.note(sender, self.now(), f"force-pushed from {before[:7]} to {new[:7]}" if forced else f"pushed {new[:7]}")
        self._refresh(pull)
        self.emit_pull("synchronize", pull, sender, before=before, after=new)

    def follow_base(self, pull: Pull, new: str, sender: User) -> None:
        """A base that contains the head has merged it; otherwise only the trial merge changes."""
        if pull.repository.git.is_ancestor(pull.head_sha, new):
            self._close(pull, sender, merge_sha=new)
            return
        git = pull.repository.git
        pull.mergeable = git.merge(new, pull.head_sha, "trial") is not None

    def close_pull(self, pull: Pull, *, by: str | None = None) -> None:
        """Close without merging."""
        with self.lock:
            self._close(pull, self._actor(pull, by))

    def _close(self, pull: Pull, sender: User, merge_sha: str | None = None) -> None:
        pull.state, pull.closed_at, pull.closed_by = "closed", self.now(), sender
        if merge_sha is not None:
            pull.merged_at, pull.merged_by, pull.merge_sha = self.now(), sender, merge_sha
        pull.note(sender, self.now(), f"merged this into {pull.base_ref}" if merge_sha else "closed this")
        self.emit_pull("closed", pull, sender)

    def reopen_pull(self, pull: Pull, *, by: str | None = None) -> None:
        """Open again."""
        with self.lock:
            pull.state, pull.closed_at, pull.closed_by = "open", None, None
            pull.note(self._actor(pull, by), self.now(), "reopened this")
            self.emit_pull("reopened", pull, self._actor(pull, by))

    def merge_pull(self, pull: Pull, *, by: str | None = None, method: Literal["merge", "squash"] = "merge") -> str:
        """Merge into the base; the new commit's id. Raises Refusal (405) where it conflicts."""
        with self.lock:
            git, sender = pull.repository.git, self._actor(pull, by)
            base = git.branch(pull.base_ref) or pull.base_sha
            merged = git.merge(base, pull.head_sha, f"Merge pull request #{pull.number} from {pull.head_ref}\n\n{pull.title}")
            if merged is None:
                raise Refusal(405, "Pull Request is not mergeable")
            if method == "squash":
                merged = git.squash(base, merged, f"{pull.title} (#{pull.number})")
            self._close(pull, sender, merge_sha=merged)
            self.set_ref(pull.repository, f"refs/heads/{pull.base_ref}", merged, sender)
            return merged

    def retarget(self, pull: Pull, base: str, *, by: str | None = None) -> None:
        """Change the base branch."""
        with self.lock:
            if pull.repository.git.branch(base) is None:
                raise invalid("PullRequest", "base", "invalid")
            changes = {"base": {"ref": {"from": pull.base_ref}, "sha": {"from": pull.base_sha}}}
            pull.note(self._actor(pull, by), self.now(), f"changed the base branch from {pull.base_ref} to {base}")
            pull.base_ref = base
            self._refresh(pull)
            self.emit_pull("edited", pull, self._actor(pull, by), changes=changes)

    def edit_pull(self, pull: Pull, *, title: str | None = None, body: str | None = None, by: str | None = None) -> None:
        """Change a pull request's words."""
        with self.lock:
            changes = {**({"title": {"from": pull.title}} if title is not None else {}), **({"body": {"from": pull.body or ""}} if body is not None else {})}
            pull.title, pull.body = pull.title if title is None else title, pull.body if body is None else body
            self.emit_pull("edited", pull, self._actor(pull, by), changes=changes)

    def ready_for_review(self, pull: Pull, *, by: str | None = None) -> None:
        """Make a draft a full pull request."""
        with self.lock:
            pull.draft = False
            pull.note(self._actor(pull, by), self.now(), "marked this as ready for review")
            self.emit_pull("ready_for_review", pull, self._actor(pull, by))

    def convert_to_draft(self, pull: Pull, *, by: str | None = None) -> None:
        """Make a pull request a draft."""
        with self.lock:
            pull.draft = True
            pull.note(self._actor(pull, by), self.now(), "made this a draft")
            self.emit_pull("converted_to_draft", pull, self._actor(pull, by))

    def delete_head_repository(self, pull: Pull) -> None:
        """Delete the fork that a pull request came from: its `head.repo` is null from then on."""
        if not pull.from_fork or pull.head_repository is None:
            raise ValueError("the head is no fork")
        self.delete_repository(pull.head_repository)

    def merge_group(self, repository: RepositoryOrName, base: str = "main", *, pull: Pull | None = None, by: str | None = None) -> str:
        """Queue a pull request (the newest open one on the base unless given) and ask for checks of the group; the group's head."""
        with self.lock:
            target = self.repository(repository)
            queued = pull or next((one for one in target.pulls() if one.state == "open" and not one.draft and one.base_ref == base), None)
            base_sha = target.git.branch(base)
            if queued is None or base_sha is None:
                raise ValueError(f"nothing to queue on {base}")
            head_sha = target.git.merge(base_sha, queued.head_sha, f"Merge pull request #{queued.number} from {queued.head_ref}")
            if head_sha is None:
                raise Refusal(405, "Pull Request is not mergeable")
            ref = f"refs/heads/gh-readonly-queue/{base}/pr-{queued.number}-{base_sha}"
            sender = self._actor(queued, by)
            self.set_ref(target, ref, head_sha, sender)
            group = {"head_sha": head_sha, "head_ref": ref, "base_sha": base_sha, "base_ref": f"refs/heads/{base}",
                     "head_commit": commit.in_payload(target.git.commit(head_sha))}
            self.emit("merge_group", "checks_requested", target, sender, merge_group=group)
            return head_sha


def _ends(target: Repository, source: Repository, head: str, base: str) -> tuple[str, str]:
    """(head's commit, base's commit). Raises Refusal."""
    head_sha, base_sha = source.git.branch(head), target.git.branch(base)
    if head_sha is None or base_sha is None:
        raise invalid("PullRequest", "base" if base_sha is None else "head", "invalid")
    same = [one for one in target.pulls() if one.state == "open" and one.head_repository is source and (one.head_ref, one.base_ref) == (head, base)]
    if same:
        raise invalid("PullRequest", "base", "custom", f"A pull request already exists for {source.owner.login}:{head}.")
    if source is not target:
        target.git.fetch(source.git.path, head_sha)
    if not target.git.between(base_sha, head_sha, 1):
        raise invalid("PullRequest", "base", "custom", f"No commits between {base} and {head}")
    return head_sha, base_sha
