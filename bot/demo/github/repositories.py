"""Repositories: imported, forked, pushed to, renamed, archived, deleted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bot.demo.github.bare import ZERO, Bare
from bot.demo.github.manifests import Manifests
from bot.demo.github.records import Label, Repository, Suite, User
from bot.demo.github.shapes import accounts, check, commit
from bot.demo.github.shapes.repository import in_push
from bot.demo.github.state import RepositoryOrName

if TYPE_CHECKING:
    from bot.demo.github.records import Pull

COMMITS_TOLD = 20


class Repositories(Manifests):
    """Everything that moves a ref goes through `moved`, so that pull requests follow and events are sent."""

    def add_repository(self, owner: str, name: str, source: Path, private: bool = False, default_branch: str = "main") -> Repository:
        """Import a local Git repository with all of its branches. Raises ValueError where the default branch is not there."""
        with self.lock:
            return self._add(self.add_user(owner), name, source, private, default_branch, None)

    def fork(self, repository: RepositoryOrName, owner: str) -> Repository:
        """A fork under the same name."""
        with self.lock:
            parent = self.repository(repository)
            return self._add(self.add_user(owner), parent.name, parent.git.path, parent.private, parent.default_branch, parent)

    def _add(self, owner: User, name: str, source: Path, private: bool, default_branch: str, parent: Repository | None) -> Repository:
        if self.find_repository(f"{owner.login}/{name}") is not None:
            raise ValueError(f"{owner.login}/{name} exists")
        number = self.next_id("repository")
        git = Bare.imported(self.folder / f"{number}.git", source)
        if git.branch(default_branch) is None:
            raise ValueError(f"{source} has no branch {default_branch}")
        git.run("symbolic-ref", "HEAD", f"refs/heads/{default_branch}")
        for ref in [ref for ref in git.refs() if not ref.startswith(("refs/heads/", "refs/tags/"))]:
            git.move(ref, None)
        self.repositories[number] = Repository(number, owner, name, private, default_branch, git, self.now(), self.now(), parent)
        return self.repositories[number]

    def push(self, repository: RepositoryOrName, branch: str, source: Path, commit: str, *, by: str | None = None) -> str:
        """Make a branch point at a commit of a local repository, forced if need be; the commit's full id."""
        with self.lock:
            target = self.repository(repository)
            sha = target.git.fetch(source, commit)
            self.set_ref(target, f"refs/heads/{branch}", sha, target.owner if by is None else self.user(by))
            return sha

    def delete_branch(self, repository: RepositoryOrName, branch: str, *, by: str | None = None) -> None:
        """Delete a branch; open pull requests from it are closed."""
        with self.lock:
            target = self.repository(repository)
            self.set_ref(target, f"refs/heads/{branch}", None, target.owner if by is None else self.user(by))

    def set_ref(self, repository: Repository, ref: str, sha: str | None, sender: User) -> None:
        """Move a ref and let what hangs on it follow."""
        with self.lock:
            old = repository.git.refs().get(ref)
            if old == sha:
                return
            repository.git.move(ref, sha)
            self.moved(repository, ref, old, sha, sender)

    def moved(self, repository: Repository, ref: str, old: str | None, new: str | None, sender: User) -> None:
        """Tell of a ref that has moved: a push, a suite for each App that checks, and the pull requests on either end."""
        repository.pushed_at = self.now()
        self._emit_push(repository, ref, old, new, sender)
        if not ref.startswith("refs/heads/"):
            return
        branch = ref.removeprefix("refs/heads/")
        if new is not None:
            self._request_suites(repository, branch, old, new, sender)
        for pull in [pull for each in self.repositories.values() for pull in each.pulls() if pull.state == "open"]:
            if pull.head_repository is repository and pull.head_ref == branch:
                self.follow_head(pull, new, sender)
            elif pull.repository is repository and pull.base_ref == branch and new is not None:
                self.follow_base(pull, new, sender)

    def follow_head(self, pull: Pull, new: str | None, sender: User) -> None:
        """What a pull request does when its head moves."""
        raise NotImplementedError

    def follow_base(self, pull: Pull, new: str, sender: User) -> None:
        """What a pull request does when its base moves."""
        raise NotImplementedError

    def _emit_push(self, repository: Repository, ref: str, old: str | None, new: str | None, sender: User) -> None:
        git, page = repository.git, self.site.page(repository)
        start = old or git.branch(repository.default_branch)
        shas = [] if new is None else git.between(start, new) if start and start != new else []
        told = [commit.in_push(self.site, repository, git.commit(sha)) for sha in shas[-COMMITS_TOLD:]]
        head = None if new is None else commit.in_push(self.site, repository, git.commit(new))
        pusher = {"name": sender.login, "email": f"{sender.id}+{sender.login}@users.noreply.github.com"}
        self.emit("push", None, repository, sender, told=in_push(self.site, repository), ref=ref, before=old or ZERO, after=new or ZERO, created=old is None,
                  deleted=new is None, forced=bool(old and new and not git.is_ancestor(old, new)), base_ref=None,
                  compare=f"{page}/compare/{(old or ZERO)[:12]}...{(new or ZERO)[:12]}", commits=told, head_commit=head, pusher=pusher)

    def _request_suites(self, repository: Repository, branch: str, old: str | None, new: str, sender: User) -> None:
        for installed in list(self.installations.values()):
            if installed.covers(repository) and installed.permissions.get("checks") == "write" and installed.suspended_at is None:
                known = any(one.app is installed.app and one.head_sha == new for one in repository.suites)
                suite = self.suite(repository, installed.app.id, new, branch, old)
                if not known:
                    self.emit("check_suite", "requested", repository, sender, only=installed.app, check_suite=check.check_suite(self.site, suite))

    def suite(self, repository: Repository, app_id: int, sha: str, branch: str | None = None, before: str | None = None) -> Suite:
        """The suite of an App on a commit, made when it is first asked for. A commit that is only in a fork has no branch here."""
        for one in repository.suites:
            if one.app.id == app_id and one.head_sha == sha:
                return one
        heads = [ref.removeprefix("refs/heads/") for ref, head in repository.git.refs().items() if head == sha and ref.startswith("refs/heads/")]
        made = Suite(self.next_id("suite"), repository, self.apps[app_id], sha, branch or (heads[0] if heads else None), before, self.now(), self.now())
        repository.suites.append(made)
        return made

    def label(self, repository: Repository, name: str) -> Label:
        """A label of a repository, made when it is first used."""
        if name.lower() not in repository.labels:
            repository.labels[name.lower()] = Label(self.next_id("label"), name)
        return repository.labels[name.lower()]

    def rename_repository(self, repository: RepositoryOrName, name: str) -> None:
        """Rename; the old name is answered with 301."""
        with self.lock:
            target = self.repository(repository)
            old, self.former_names[target.full_name.lower()] = target.name, target.id
            target.name = name
            self.emit("repository", "renamed", target, target.owner, changes={"repository": {"name": {"from": old}}})

    def transfer_repository(self, repository: RepositoryOrName, owner: str) -> None:
        """Give a repository to another account; installations of the old one lose it."""
        with self.lock:
            target = self.repository(repository)
            old, self.former_names[target.full_name.lower()] = target.owner, target.id
            kind = "organization" if old.kind == "Organization" else "user"
            shape = accounts.organization if kind == "organization" else accounts.user
            target.owner = self.add_user(owner)
            for installed in self.installations.values():
                if installed.account is old and installed.repository_ids is not None:
                    installed.repository_ids.discard(target.id)
            self.emit("repository", "transferred", target, old, changes={"owner": {"from": {kind: shape(self.site, old)}}})

    def archive_repository(self, repository: RepositoryOrName) -> None:
        """Archive: reading goes on, writing answers 403."""
        with self.lock:
            target = self.repository(repository)
            target.archived = True
            self.emit("repository", "archived", target, target.owner)

    def delete_repository(self, repository: RepositoryOrName) -> None:
        """Delete; pull requests from it lose their head repository."""
        with self.lock:
            target = self.repository(repository)
            self.emit("repository", "deleted", target, target.owner)
            target.deleted = True
            for pull in [pull for each in self.repositories.values() for pull in each.pulls() if pull.head_repository is target]:
                pull.head_repository = None
