"""Commands about all owners of a store: `replay --all`, `health --all`, `extract --all`. Their frames are in `api.cli`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from api.cli.app import err

if TYPE_CHECKING:
    from api.application import Application
    from api.requests.whole import AnyAsked
    from ops.many.running import Executor
    from ops.processes.shares import Work
    from ops.store import OpenStore
    from projections.reports.many.kinds import AnyFigures


def ask_everybody(
    work: Work,
    given: Mapping[str, Any],
    tell: Callable[[Mapping[str, Any]], None],
    *,
    processes: int | None,
    dask: str | None,
    anew: bool,
    json: bool,
) -> None:
    """Ask the whole store, with a bar; goes on with what a run that was killed has done, which is kept until it is told.

    Raises InputError, StoreError.
    """
    import msgspec

    from ops.commands.notices import patient
    from ops.many.dask_cluster import checked_address
    from ops.many.journal import Journal
    from ops.many.running import all_owners
    from ops.settings import load_settings
    from ops.store import open_the_store
    from ops.wiring import application_on

    asked, total, told = _asked(work, given)
    if dask is not None:
        checked_address(dask)
    settings = load_settings()
    columns = (TextColumn("owners"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        open_the_store(settings, on_wait=patient(err)) as store,
        application_on(store, settings, stays=False) as application,
        Journal(
            settings.data.expanduser() / "many",
            work,
            store.identity.store_id,
            msgspec.json.encode(asked, order="deterministic"),
            anew=anew,
        ) as journal,
        _executor(work, store, application, processes, dask) as executor,
    ):
        if journal.done:
            done = sum(one.figures.owners for one in journal.done)
            err.print(
                f"[dim]going on with a run that was killed: {done:,} owners are done already (--anew: none count)[/]"
            )
        with Progress(*columns, console=err, transient=True, disable=json or not err.is_terminal) as bar:
            task = bar.add_task("owners", total=None)
            answer = all_owners(
                store,
                work,
                asked,
                total,
                journal,
                executor,
                advance=lambda at, of: bar.update(task, completed=at, total=of),
            )
        tell({**told, **answer})


def _asked(work: Work, given: Mapping[str, Any]) -> tuple[AnyAsked, AnyFigures, Mapping[str, Any]]:
    """What is asked, the figures of nobody, and what of the question is told again. Raises InputError."""
    if work == "replay":
        from api.services.auditing.replaying_all import nothing_of, told_of, whole_asked

        whole = whole_asked(**given)
        return whole, nothing_of(whole), told_of(whole)
    if work == "health":
        from api.services.whole.health import health_asked
        from projections.reports.many.health import StoreHealth

        held = health_asked(**given)
        return held, StoreHealth(), {"as_of": held.as_of, "known": held.known, "at": held.at}
    from api.services.whole.reading_turns import reading_asked
    from projections.reports.many.reading import TurnsRead

    reading = reading_asked(**given)
    return reading, TurnsRead(), {"by": reading.by, "dry_run": reading.dry_run, "again": reading.again}


def _executor(
    work: Work, store: OpenStore, application: Application, processes: int | None, dask: str | None
) -> AbstractContextManager[Executor]:
    """Who does it."""
    if dask is not None:
        from ops.many.dask_cluster import dask_cluster

        return dask_cluster(dask, store.identity.store_id, lambda told: err.print(told, style="yellow", markup=False))
    from ops.many.running import Processes
    from ops.many.works import WORKS

    return nullcontext(Processes(store, processes, lambda: WORKS[work](application)))
