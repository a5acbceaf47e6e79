"""Every command, thin."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bot.changes.change import Request
from bot.doctor import examine
from bot.errors import BadInput, BotError
from bot.ledger.run_store import RunStore
from bot.planning import PlanRequest, plan_repository
from bot.replay import differences, order_of, read_verdict
from bot.reporting.escape import plain
from bot.reporting.junit import write_junit
from bot.reporting.terminal import render
from bot.settings import Settings, read_settings
from bot.verification.verify import Order, new_run_id, verify
from sandbox import images, interpreters
from sandbox.docker import DockerEngine
from sandbox.environment import Workshop
from sandbox.errors import Interrupted, SandboxError

MACHINERY = 4


class Stopped(BaseException):
    """A signal asked us to end; its number decides the exit status."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def guarded(runtime: str | None = None) -> Iterator[DockerEngine]:
    """An engine whose containers are gone when the command is, whatever ends it; errors become exit statuses."""
    engine = DockerEngine(new_run_id(), runtime)

    def stop(number: int, _: types.FrameType | None) -> None:
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.SIG_IGN)
        engine.stop()
        raise Stopped(number)

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, stop)
    try:
        yield engine
    except BadInput as error:
        _fail(2, str(error))
    except Stopped as stopped:
        engine.close_quietly()
        click.echo("interrupted: the boxes are removed", err=True)
        sys.exit(128 + stopped.number)
    except Interrupted:
        engine.close_quietly()
        sys.exit(130)
    except SandboxError as error:
        engine.close_quietly()
        _fail(MACHINERY, str(error))
    except OSError as error:
        engine.close_quietly()
        _fail(MACHINERY, f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    except Exception:  # noqa: BLE001 - an unknown fault must not end in an exit status that is a verdict
        engine.close_quietly()
        traceback.print_exc()
        _fail(MACHINERY, "a fault of dualgate's own; please report the lines above")
    finally:
        engine.close_quietly()


def _fail(status: int, message: str) -> None:
    click.echo(f"dualgate: {' '.join(message.split())[:600]}", err=True)
    sys.exit(status)


def known_settings() -> Settings:
    """The environment's settings, or one line and exit status 2."""
    try:
        return read_settings()
    except BadInput as error:
        _fail(2, str(error))
        raise


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Says what is being done, on stderr; on a terminal in one line that moves and is gone at the end."""
    console = Console(stderr=True)
    if quiet:
        yield lambda _: None
    elif not console.is_terminal:
        yield lambda text: click.echo(f"  {text}", err=True)
    else:
        with console.status("reading the change") as status:
            yield lambda text: status.update(escape(text))


def write_json(data: dict[str, Any], target: str | None) -> None:
    """To a file, or to standard output for `-`."""
    if target == "-":
        click.echo(json.dumps(data, indent=1))
    elif target:
        Path(target).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dualgate")
def main() -> None:
    """Proves a code change before a person reads it: runs it in a disposable sandbox and says what it saw."""


@main.command("verify")
@click.argument("repo", type=click.Path(path_type=Path))
@click.option("--base", required=True, help="Revision that the change is judged against.")
@click.option("--head", help="Revision with the change; it is split into source and tests.")
@click.option("--patch", type=click.Path(path_type=Path), help="The change as a diff, instead of --head.")
@click.option("--test-patch", type=click.Path(path_type=Path), help="Trusted tests as a diff, applied to both sides.")
@click.option("--reproducer", "reproducers", multiple=True, type=click.Path(path_type=Path),
              help="A test file or script that fails on base and passes on the change.")
@click.option("--config", type=click.Path(path_type=Path), help="A dualgate.yml instead of the one in base.")
@click.option("--json", "json_file", help="Write the verdict here as JSON; - for standard output.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write the tests here as JUnit XML.")
@click.option("--repeat", type=click.IntRange(1, 50), default=5, show_default=True, help="Reproducer runs a side.")
@click.option("--timeout", type=click.FloatRange(min=1), default=3600.0, show_default=True, help="Seconds for the whole verification.")
@click.option("--quiet", is_flag=True, help="No progress.")
def verify_command(
    repo: Path, base: str, head: str | None, patch: Path | None, test_patch: Path | None, reproducers: tuple[Path, ...], config: Path | None,
    json_file: str | None, junit: Path | None, repeat: int, timeout: float, quiet: bool,
) -> None:
    """Verify one change of the checkout REPO. Exit status: 0 verified, 1 rejected, 3 inconclusive."""
    settings = known_settings()
    with guarded() as engine:
        for target in (Path(json_file) if json_file and json_file != "-" else None, junit):
            if target is not None and not target.absolute().parent.is_dir():
                raise BadInput(f"no such folder: {target.absolute().parent}")
        order = Order(repo, Request(base, head, patch, test_patch), reproducers, config, repeat, timeout)
        with progress(quiet) as say:
            report = verify(order, settings, RunStore(settings.data_dir), engine, say)
        verdict = report.to_json()
        write_json(verdict, json_file)
        if junit:
            write_junit(verdict, junit)
        click.echo(render(verdict), err=json_file == "-")
        status = report.exit_status
    sys.exit(status)


@main.command("plan")
@click.argument("repo", type=click.Path(path_type=Path))
@click.option("--rev", default="HEAD", show_default=True)
@click.option("--run", is_flag=True, help="Prepare the environment and run the suite.")
@click.option("--config", type=click.Path(path_type=Path), help="A dualgate.yml instead of the one in the revision.")
@click.option("--json", "json_file", help="Write the plan here as JSON; - for standard output.")
@click.option("--timeout", type=click.FloatRange(min=1), default=3600.0, show_default=True)
@click.option("--quiet", is_flag=True)
def plan_command(repo: Path, rev: str, run: bool, config: Path | None, json_file: str | None, timeout: float, quiet: bool) -> None:
    """What would be run for REPO, and why; with --run, run the base suite."""
    settings = known_settings()
    with guarded() as engine:
        with progress(quiet) as say:
            result = plan_repository(PlanRequest(repo, rev, run, config, timeout), settings, RunStore(settings.data_dir), engine, say)
        write_json(result.to_json(), json_file)
        click.echo(result.text(), err=json_file == "-")
        status = result.exit_status
    sys.exit(status)


@main.group("images")
def images_group() -> None:
    """Base and environment images."""


@images_group.command("bootstrap")
@click.option("--from", "pulled_from", help="Start from this image of a registry instead of Debian's mirror.")
@click.option("--release", type=click.Choice(sorted(set(interpreters.DEBIAN_PYTHONS.values()))), default=images.SUITE, show_default=True,
              help="Debian release, for its Python.")
def images_bootstrap(pulled_from: str | None, release: str) -> None:
    """Make the base image."""
    with guarded() as engine:
        click.echo(f"{images.base_reference(release)}  {images.bootstrap(engine, pulled_from, release)}")


@images_group.command("list")
def images_list() -> None:
    """What is kept, newest first."""
    with guarded() as engine:
        table = Table("image", "kind", "MB")
        for row in images.kept_images(engine):
            table.add_row(row.reference, row.kind, f"{row.size / 1e6:.0f}")
        Console().print(table)


@images_group.command("prune")
@click.option("--keep-gb", type=click.FloatRange(min=0), help="Disk that environments may take (default: the setting).")
def images_prune(keep_gb: float | None) -> None:
    """Remove environments that were not used for longest, and what dead runs left."""
    settings = known_settings()
    with guarded() as engine:
        swept = engine.sweep()
        budget = settings.images_gb if keep_gb is None else keep_gb
        removed = images.prune(engine, int(budget * 1e9), Workshop(settings.data_dir).last_used())
        for row in removed:
            click.echo(f"removed {row.reference}")
        click.echo(f"{len(removed)} environments and {len(swept)} containers removed")


@main.group("runs")
def runs_group() -> None:
    """Verifications of the past."""


@runs_group.command("list")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
def runs_list(limit: int) -> None:
    """The newest first."""
    with guarded():
        store = RunStore(known_settings().data_dir)
        rows = [store.load(run_id) for run_id in store.ids()[:limit]]
        if not rows:
            click.echo("no runs yet")
        for verdict in rows:
            click.echo(f"{verdict['run']}  {verdict['verdict']:<12}  {verdict['repository']}  {verdict['summary'][:100]}")


@runs_group.command("show")
@click.argument("run_id")
@click.option("--json", "as_json", is_flag=True)
def runs_show(run_id: str, as_json: bool) -> None:
    """One run, by its id or the beginning of it."""
    with guarded():
        verdict = RunStore(known_settings().data_dir).load(run_id)
        click.echo(json.dumps(verdict, indent=1) if as_json else render(verdict))


@runs_group.command("replay")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--repo", type=click.Path(path_type=Path), help="The checkout, where it stands elsewhere than at the first time.")
@click.option("--timeout", type=click.FloatRange(min=1), default=3600.0, show_default=True)
@click.option("--quiet", is_flag=True, help="No progress.")
def runs_replay(file: Path, repo: Path | None, timeout: float, quiet: bool) -> None:
    """Repeat the verification whose verdict is FILE (written by --json). Exit status: 0 it came out the same, 1 it did not."""
    settings = known_settings()
    with guarded() as engine:
        before = read_verdict(file)
        with progress(quiet) as say:
            after = verify(order_of(before, repo, timeout), settings, RunStore(settings.data_dir), engine, say).to_json()
        found = differences(before, after)
        click.echo(after["summary"])
        click.echo("\n".join(["it came out otherwise:", *(f"  {plain(line)}" for line in found)]) if found else
                   f"it came out the same: {len(after['tests'])} tests, environment and all")
    sys.exit(1 if found else 0)


@main.command("doctor")
def doctor_command() -> None:
    """Look at engine, images, interpreters, disk and CA, with the command that mends each fault."""
    with guarded() as engine:
        checks = examine(engine, known_settings())
        for check in checks:
            click.echo(f"{'ok  ' if check.ok else 'FAIL'}  {check.name:<14} {check.detail}")
            if not check.ok:
                click.echo(f"      mend it with: {check.mend}")
        status = 0 if all(check.ok for check in checks) else MACHINERY
    sys.exit(status)


@contextmanager
def one_line_faults() -> Iterator[None]:
    """Faults of the App's processes as one line and an exit status."""
    try:
        yield
    except BadInput as error:
        _fail(2, str(error))
    except (BotError, OSError) as error:
        _fail(MACHINERY, str(error))


@main.command("serve")
def serve_command() -> None:
    """The App's door: takes GitHub's webhooks and shows the runs. Settings come from the environment (docs/app.md)."""
    os.execve(sys.executable, [sys.executable, "-P", "-m", "webhooks"], dict(os.environ))  # a room above this one: begun, not imported


@main.command("worker")
def worker_command() -> None:
    """The App's worker: makes the runs. Any number of machines, each beside its own Docker."""
    from bot.worker import worker_command as become_worker

    with one_line_faults():
        become_worker(os.environ)


@main.command("demo")
@click.option("--stay/--no-stay", default=None, help="Keep everything up for a look until Ctrl-C (default: on a terminal).")
def demo_command(stay: bool | None) -> None:
    """The whole walk with a stand-in for GitHub: an agent's good and bad pull request, their checks and comments."""
    from bot.demo.acts import on_a_terminal, play

    with guarded(), progress(False) as say, one_line_faults():
        status = play(Console(), say, on_a_terminal() if stay is None else stay)
    sys.exit(status)
