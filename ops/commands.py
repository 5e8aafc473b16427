"""Commands that join processes or look at the whole store: up, worker, rebuild, verify."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from api.cli.app import Json, app, err, out, show
from consumers.redis_rebuild import rebuild_partition, refuse_without_room
from consumers.redis_verify import Verdict, verify_partition
from events.errors import BadSetting, InputError
from ops.settings import load_settings
from ops.store import OpenStore, open_the_store
from ops.worker import new_worker_id, run_worker
from projections.partition import DIGEST_MODULUS


@contextmanager
def _store() -> Iterator[OpenStore]:
    with open_the_store(load_settings(), on_wait=lambda message: err.print(f"[dim]{message}[/]")) as store:
        if store.embedded and store.embedded.recovery:
            err.print(f"[bold yellow]{store.embedded.recovery}[/]")
        yield store


def _bar(as_json: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, transient=True, disable=as_json or not err.is_terminal)


def _chosen(partitions: list[int] | None, count: int) -> list[int]:
    chosen = sorted(set(partitions)) if partitions else list(range(count))
    for number in chosen:
        if not 0 <= number < count:
            raise InputError(f"partition: got {number}; allowed: 0 to {count - 1}", field="partition", got=number)
    return chosen


Partitions = Annotated[
    list[int] | None, typer.Option("--partition", help="Only this partition; as often as needed.", show_default=False)
]


@app.command(epilog="Example: `engramlog rebuild` while `engramlog up` is running")
def rebuild(partition: Partitions = None, json: Json = False) -> None:
    """Fold the log anew into a fresh build, while the live one goes on, then switch; the old one goes after ten minutes."""
    with _store() as store, _bar(json) as bar:
        chosen = _chosen(partition, store.identity.partitions)
        wire = store.wire()
        refuse_without_room(wire, [store.identity.tags[number] for number in chosen])
        wire.close()
        switched = []
        for number in chosen:
            task = bar.add_task(f"partition {number}", total=None)
            done = rebuild_partition(
                store.client,
                store.identity.tags[number],
                holder=new_worker_id(),
                on_progress=lambda at, total, task=task: bar.update(task, completed=at, total=total),  # type: ignore[misc]
            )
            bar.remove_task(task)
            switched.append({"partition": number, "old": done.old, "new": done.new, "seq": done.seq})
    show(
        {"switched": switched},
        json,
        lambda told: out.print(f"{len(told['switched'])} partition(s) rebuilt and switched"),
    )


@app.command(epilog="Example: `engramlog verify --json`")
def verify(partition: Partitions = None, json: Json = False) -> None:
    """Fold the log anew in memory and compare: records, change logs, both hash chains, every position. Reads only."""
    with _store() as store, _bar(json) as bar:
        verdicts = []
        for number in _chosen(partition, store.identity.partitions):
            task = bar.add_task(f"partition {number}", total=None)
            verdicts.append(
                verify_partition(
                    store.client,
                    number,
                    store.identity.tags[number],
                    on_progress=lambda at, total, task=task: bar.update(task, completed=at, total=total),  # type: ignore[misc]
                )
            )
            bar.remove_task(task)
    answer = _verified(verdicts)
    show(answer, json, _render_verified)
    raise typer.Exit(0 if answer["ok"] else 1)


def _verified(verdicts: list[Verdict]) -> dict[str, Any]:
    differences = [difference for verdict in verdicts for difference in verdict.differences]
    return {
        "ok": not differences,
        "events": sum(v.events for v in verdicts),
        "memories": sum(v.memories for v in verdicts),
        "digest": f"{sum(v.digest for v in verdicts) % DIGEST_MODULUS:032x}",
        "differences": differences,
        "chains": {str(v.partition): v.head for v in verdicts},
    }


def _render_verified(answer: dict[str, Any]) -> None:
    if answer["ok"]:
        out.print(
            f"[bold green]ok[/] {answer['events']:,} events, {answer['memories']:,} memories, digest {answer['digest']}"
        )
        return
    table = Table(title=f"{len(answer['differences'])} differences", title_justify="left")
    for name in ("partition", "what", "owner", "memory", "details"):
        table.add_column(name, overflow="fold")
    for one in answer["differences"]:
        rest = {k: v for k, v in one.items() if k not in ("partition", "what", "owner", "memory")}
        table.add_row(
            str(one["partition"]),
            one["what"],
            escape(one.get("owner", "")),
            escape(one.get("memory", "")),
            escape(str(rest)),
        )
    out.print(table)


@app.command(epilog="Example: `ENGRAMLOG_REDIS_URL=redis://10.0.0.5 engramlog worker`")
def worker(json: Json = False) -> None:  # noqa: ARG001 - a worker's log lines are JSON whenever nobody looks on
    """One fold worker on a Redis of your own, until SIGTERM; as many as you like, on as many hosts."""
    from ops.logs import start_logging  # noqa: PLC0415

    settings = load_settings()
    if not settings.redis_url:
        raise BadSetting(
            "ENGRAMLOG_REDIS_URL: got nothing; allowed: the URL of the store's Redis. The embedded store gets its workers from"
            " `engramlog up` (ENGRAMLOG_WORKERS says how many)",
            setting="ENGRAMLOG_REDIS_URL",
        )
    with open_the_store(settings) as store:
        url = store.url
    start_logging(settings.log_level)
    run_worker(url, timeout=settings.redis_timeout)
