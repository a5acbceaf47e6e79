"""`.github/dualgate.yml`: what a repository may say of itself. Read from base, never from the change."""

from __future__ import annotations

import json
import posixpath
import shlex
from dataclasses import replace
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticSerializationError

from bot.errors import BadInput
from sandbox.limits import Limits
from sandbox.plan import Plan
from sandbox.toolchains.protocol import Given
from sandbox.toolchains.registry import toolchain_of

PATH = ".github/dualgate.yml"
LARGEST = 65_536
MOST_PLANS = 20
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LimitsPolicy(_Model):
    """Limits of a run; what is not given keeps its default."""

    suite_s: Seconds | None = None
    test_s: Seconds | None = None
    memory_mb: Annotated[int, Field(ge=64)] | None = None
    pids: Annotated[int, Field(ge=16)] | None = None
    disk_mb: Annotated[int, Field(ge=16)] | None = None

    def over(self, limits: Limits) -> Limits:
        """The limits with these in place."""
        given: dict[str, Any] = {"suite_s": self.suite_s, "test_s": self.test_s, "memory_mb": self.memory_mb, "pids": self.pids, "tree_mb": self.disk_mb,
                                 "temporary_mb": self.disk_mb}
        limits = replace(limits, **{name: value for name, value in given.items() if value is not None})
        return replace(limits, collect_s=min(limits.collect_s, limits.suite_s))  # a hang at import spends the suite's time too


class PathsPolicy(_Model):
    """Glob patterns: a change to a protected path needs review; outside the allowed ones too, where any are given."""

    protected: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class PlanPolicy(_Model):
    """Words over one plan that detection finds, by its folder and, where that has several, its toolchain.

    `install`: requirements added to it (PEP 508 for Python, module@version for Go, name@range for Node); `test`: its runner's command.
    """

    directory: str = "."
    toolchain: str | None = None
    version: str | None = None
    env: dict[str, str] = Field(default_factory=dict)
    install: tuple[str, ...] = ()
    test: str | None = None

    def means(self, plan: Plan) -> bool:
        """Whether these words are about a plan."""
        return posixpath.normpath(self.directory).strip("/").removeprefix(".") == plan.directory and self.toolchain in (None, plan.toolchain)

    def given(self) -> Given:
        """In a toolchain's terms."""
        return Given(self.version, self.install, tuple(sorted(self.env.items())), self.test)


class BudgetPolicy(_Model):
    """Dollars for models: a run, an issue, a month."""

    run: Annotated[float, Field(ge=0)] | None = None
    issue: Annotated[float, Field(ge=0)] | None = None
    month: Annotated[float, Field(ge=0)] | None = None


class AgentsPolicy(_Model):
    """Numeric ids of accounts whose pull requests are verified by themselves, beside those known (`add`), or not (`remove`)."""

    add: tuple[int, ...] = ()
    remove: tuple[int, ...] = ()


class Policy(_Model):
    """The whole file, with its defaults.

    `pull_requests`: whose are verified by themselves; `drafts`: those too; `required`: one out of scope gets a neutral check, so that a required
    check blocks nobody; `comment`: when the verdict comment is written; `inconclusive`: the check's conclusion when no verdict can be given.
    """

    enabled: bool = True
    pull_requests: Literal["agents", "all", "labelled"] = "agents"
    drafts: bool = False
    trigger_label: Annotated[str, Field(min_length=1, max_length=50)] = "dualgate"
    required: bool = False
    agent: str | None = None
    agents: AgentsPolicy = AgentsPolicy()
    budget: BudgetPolicy = BudgetPolicy()
    comment: Literal["always", "failures", "never"] = "always"
    inconclusive: Literal["action_required", "neutral", "failure"] = "action_required"
    runtime: str | None = None
    limits: LimitsPolicy = LimitsPolicy()
    paths: PathsPolicy = PathsPolicy()
    plans: Annotated[tuple[PlanPolicy, ...], Field(max_length=MOST_PLANS)] = ()

    def over(self, plans: tuple[Plan, ...], file: str) -> tuple[Plan, ...]:
        """The detected plans with the file's words over them. Raises BadInput for words that belong to none of them."""
        laid = list(plans)
        for number, mine in enumerate(self.plans):
            meant = [place for place, plan in enumerate(plans) if mine.means(plan)]
            if not meant and plans:
                there = ", ".join(f"{plan.toolchain} in {plan.directory or '.'}" for plan in plans)
                raise BadInput(f"{file}: plans[{number}] is about {mine.toolchain or 'a plan'} in {mine.directory}, and there is only: {there}")
            for place in meant:
                try:
                    laid[place] = toolchain_of(laid[place]).configure(laid[place], mine.given(), file)
                except ValueError as error:
                    raise BadInput(f"{file}: plans[{number}].test {error}") from error
        return tuple(laid)


def schema() -> str:
    """JSON Schema of the file, as docs/dualgate.schema.json publishes it for editors."""
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": PATH, **Policy.model_json_schema()}, indent=2) + "\n"


def read_policy(text: str, file: str = PATH) -> Policy:
    """Raises BadInput with file, line and column of the first fault."""
    if len(text) > LARGEST:
        raise BadInput(f"{file}: it is longer than {LARGEST} characters")
    try:
        data: Any = yaml.safe_load(text)
        node = yaml.compose(text)
    except (ValueError, RecursionError) as error:  # a date that there is not, nesting without end
        raise BadInput(f"{file}: it can't be read: {error or type(error).__name__}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise BadInput(f"{file}{where}: {getattr(error, 'problem', None) or error}") from error
    if data is None:
        return Policy()
    try:
        policy = Policy.model_validate(data)
        policy.model_dump_json().encode("utf-8")
        for number, plan in enumerate(policy.plans):
            try:
                shlex.split(plan.test or "")
            except ValueError as error:
                raise BadInput(f"{file}: plans[{number}].test: {error}") from error
        return policy
    except (PydanticSerializationError, UnicodeError) as error:
        raise BadInput(f"{file}: it holds half a character (a lone surrogate)") from error
    except ValidationError as error:
        first = error.errors()[0]
        line, column = _place(node, first["loc"])
        name = ".".join(str(word) for word in first["loc"])
        raise BadInput(f"{file}:{line}:{column}: {name}: {first['msg']}") from error


def _place(node: Any, path: tuple[int | str, ...]) -> tuple[int, int]:
    """Line and column (from 1) of the deepest node that a path names."""
    mark = node.start_mark
    for word in path:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == word), None)
            if pair is None:
                break
            mark, node = pair[0].start_mark, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(word, int) and word < len(node.value):
            node = node.value[word]
            mark = node.start_mark
        else:
            break
    return mark.line + 1, mark.column + 1
