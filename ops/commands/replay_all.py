"""`engramlog replay --all`."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from engramlog_server.api.cli.app import err


def replay_all(given: Mapping[str, Any], *, count: int | None, json: bool) -> Mapping[str, Any]:
    """The answer, with a bar on standard error meanwhile. `count`: processes. Raises InputError, StoreError."""
    from engramlog_server.api.services.replaying import told_of, whole_asked
    from engramlog_server.events.partitions import LogKeys
    from engramlog_server.ops.commands.notices import patient
    from engramlog_server.ops.processes.shares import process_count
    from engramlog_server.ops.replay_all import dask_workers, processes, replay_partitions
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store import open_the_store

    asked, settings, began = whole_asked(**given), load_settings(), monotonic()
    columns = (TextColumn("partitions"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with open_the_store(settings, on_wait=patient(err)) as store:
        identity, wire = store.identity, store.wire()
        heads = wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in identity.tags])
        wire.close()
        used = process_count(count, identity.partitions, sum(int(head or 0) for head in heads))
        workers = dask_workers(settings.dask) if settings.dask else processes(used, store.told)
        with workers as executor, Progress(*columns, console=err, transient=True, disable=json) as bar:
            task = bar.add_task("partitions", total=identity.partitions)
            total = replay_partitions(
                executor,
                identity.store_id,
                identity.partitions,
                asked,
                lambda done, _all: bar.update(task, completed=done),
            )
    by = {"processes": None if settings.dask else used, "seconds": round(monotonic() - began, 3)}
    return {**told_of(asked), **total.told(), **by}
