"""`engramlog replay --all`: how the reading of the whole store would change; the frame of the command is `api.cli`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from api.cli.app import err


def replay_everybody(
    given: Mapping[str, Any],
    tell: Callable[[Mapping[str, Any]], None],
    *,
    processes: int | None,
    anew: bool,
    json: bool,
) -> None:
    """Ask the whole store, with a bar; goes on with what a run that was killed has done, which is kept until it is told.

    Raises InputError, StoreError.
    """
    import msgspec

    from api.services.auditing.replaying_all import whole_asked
    from ops.commands.notices import patient
    from ops.many.journal import Journal
    from ops.many.replaying import replay_all, replayer_on
    from ops.settings import load_settings
    from ops.store import open_the_store
    from ops.wiring import application_on

    asked, settings = whole_asked(**given), load_settings()
    columns = (TextColumn("owners"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        open_the_store(settings, on_wait=patient(err)) as store,
        application_on(store, settings, stays=False) as application,
        Journal(
            settings.data.expanduser() / "many",
            "replay",
            store.identity.store_id,
            msgspec.json.encode(asked, order="deterministic"),
            anew=anew,
        ) as journal,
    ):
        if journal.done:
            done = sum(one.moved.owners for one in journal.done)
            err.print(
                f"[dim]going on with a run that was killed: {done:,} owners are done already (--anew: none count)[/]"
            )
        with Progress(*columns, console=err, transient=True, disable=json or not err.is_terminal) as bar:
            task = bar.add_task("owners", total=None)
            answer = replay_all(
                store,
                replayer_on(application),
                asked,
                journal,
                processes=processes,
                advance=lambda at, total: bar.update(task, completed=at, total=total),
            )
        tell(answer)
