"""Commands that prove the stored state or fold it again: `verify`, `rebuild` and `replay --all`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from operator import attrgetter, itemgetter
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from engramlog_server.api.cli.app import Json, app, err, out, show
from engramlog_server.api.cli.show import generic
from engramlog_server.api.cli.show.tables import Column, plain, tabulate
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.text import many

if TYPE_CHECKING:
    from engramlog_server.consumers.verify.findings import Findings
    from engramlog_server.ops.processes.shares import PartitionDone, PartitionTask, Work
    from engramlog_server.ops.store import OpenStore


@contextmanager
def _store() -> Iterator[OpenStore]:
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store import open_the_store

    with open_the_store(load_settings(), on_wait=patient(err)) as store:
        if store.embedded and store.embedded.recovery:
            err.print(f"[bold yellow]{store.embedded.recovery}[/]")
        yield store


def _need_the_key(store: OpenStore) -> None:
    """Raise KeyUnavailable where the master key of a sealed store cannot be had: every owner would stand still, or differ."""
    found = store.client.seals.standing()
    if found.is_on and not found.reachable:
        from engramlog_server.events.errors import KeyUnavailable

        raise KeyUnavailable(f"nothing was done, for the master key cannot be had: {found.reason}")


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
    list[int] | None, typer.Option("--partition", help="Only this partition; repeatable.", show_default=False)
]
Processes = Annotated[
    int | None,
    typer.Option(
        "--processes",
        min=1,
        max=64,
        metavar="N",
        help="Processes that share the partitions, 1 to 64. [default: one per core, at most one per 50,000 events]",
        show_default=False,
    ),
]
Reason = Annotated[
    str | None,
    typer.Option(
        "--accept-changed-log",
        metavar="REASON",
        help="Fold a log that differs from the kept heads, and record the reason for good.",
        show_default=False,
    ),
]


@app.command(epilog="Example: `engramlog rebuild` while `engramlog up` is running")
def rebuild(
    partition: Partitions = None,
    accept_changed_log_: Reason = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Start from the beginning instead of continuing a killed rebuild.")
    ] = False,
    drop_left: Annotated[
        bool, typer.Option("--drop-left", help="Only remove what a killed rebuild left; fold nothing.")
    ] = False,
    processes: Processes = None,
    json: Json = False,
) -> None:
    """Fold the log into a new build, while the old one answers, then switch. The old build is dropped after ten minutes.

    Refused if the log differs from the kept heads. Continues a rebuild that was killed.
    """
    from engramlog_server.consumers.fold.rebuild import RebuildRun, refuse_without_room
    from engramlog_server.ops.processes.shares import PartitionTask

    reason = _checked(accept_changed_log_)
    with _store() as store, _bar(json) as bar:
        chosen = _chosen(partition, store.identity.partitions)
        if drop_left:
            _drop_left(store, chosen, json)
            return
        _need_the_key(store)
        wire = store.wire()
        refuse_without_room(wire, [store.identity.tags[number] for number in chosen])
        accepted = _meet_heads(store, chosen, reason)
        run = RebuildRun.begin(wire, chosen, anew=anew or bool(accepted))
        if run.done:
            err.print(f"[dim]going on with a rebuild that was killed: {len(run.done)} partition(s) are done already[/]")
        switched = []
        tasks = [PartitionTask(number, store.identity.tags[number]) for number in run.rest]
        with _done("rebuild", store, tasks, processes, bar) as parts:
            for number, done, *_ in parts:
                if done is not None:
                    run.finished(wire, number)
                    store.alarms.cleared("rebuild_left", f"partition {number}")
                    switched.append({"partition": number, "old": done.old, "new": done.new, "seq": done.seq})
        switched.sort(key=itemgetter("partition"))
        run.end(wire)
        wire.close()
    answer = {"switched": switched, "done_before": run.done, "accepted": accepted}
    show(answer, json, lambda _: out.print(f"{len(switched)} partition(s) rebuilt and switched"))


@contextmanager
def _done(
    work: Work, store: OpenStore, tasks: Sequence[PartitionTask], processes: int | None, bar: Progress
) -> Iterator[Iterator[PartitionDone]]:
    """Partitions as they are done, each with a bar meanwhile; all processes have ended when it is left."""
    from engramlog_server.ops.processes.shares import do_all, process_count

    wire, bars = store.wire(), dict[int, TaskID]()
    heads = wire.answers([["HGET", LogKeys(task.tag).meta, "head"] for task in tasks])
    wire.close()
    count = process_count(processes, len(tasks), sum(int(head) for head in heads if head and head.isdigit()))

    def moved(number: int, at: int, total: int) -> None:
        if number not in bars:
            bars[number] = bar.add_task(f"partition {number}")
        bar.update(bars[number], completed=at, total=total)

    def waits(told: str) -> None:
        err.print(f"[dim]{told}[/]")

    def ended() -> Iterator[PartitionDone]:
        for one in parts:
            if one.partition in bars:
                bar.remove_task(bars.pop(one.partition))
            yield one

    with closing(do_all(work, store.client, store.told, tasks, count, moved, waits)) as parts:
        yield ended()


def _checked(reason: str | None) -> str | None:
    from engramlog_server.events.heads import MOST_REASON

    if reason is not None and not (reason.strip() and reason.isprintable() and len(reason) <= MOST_REASON):
        allowed = f"one line of 1 to {MOST_REASON} characters, which is kept for good"
        raise InputError(
            f"accept-changed-log: got {reason[:60]!r}; allowed: {allowed}", field="accept-changed-log", got=reason[:60]
        )
    return reason


def _meet_heads(store: OpenStore, chosen: list[int], reason: str | None) -> list[dict[str, Any]]:
    """Refuse a log that does not meet the kept heads, or record that somebody accepts it."""
    from engramlog_server.ops.clock import now
    from engramlog_server.ops.kept.heads import HeadFile, accept_changed_log, heads_path, refuse_changed_log
    from engramlog_server.ops.settings import load_settings

    file = HeadFile(heads_path(load_settings(), store.identity.store_id))
    if reason is None:
        refuse_changed_log(store, file, chosen)
        return []
    return accept_changed_log(store, file, chosen, reason, now())


def _drop_left(store: OpenStore, chosen: list[int], json: bool) -> None:
    from engramlog_server.consumers.fold.rebuild import RebuildRun, drop_left_builds
    from engramlog_server.events.redis.server import redis_ms

    wire = store.wire()
    at = redis_ms(wire)
    dropped = [
        {"partition": number, "build": build}
        for number in chosen
        for build in drop_left_builds(wire, store.identity.tags[number], at)
    ]
    for number in chosen:
        store.alarms.cleared("rebuild_left", f"partition {number}")
    RebuildRun.forget(wire)
    wire.close()
    show({"dropped": dropped}, json, lambda told: out.print(f"{len(told['dropped'])} build(s) dropped"))


@app.command(
    epilog="Example: `engramlog verify --against heads-of-last-year.jsonl`, `engramlog verify --heads --keep` from cron"
)
def verify(
    partition: Partitions = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against", help="Compare the log with this file of kept heads too; repeatable.", show_default=False
        ),
    ] = None,
    heads: Annotated[
        bool,
        typer.Option(
            "--heads",
            help="Only show the heads of the log's chains; with --against FILE only compare them.",
        ),
    ] = False,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="With --heads: also keep them now, in the data folder and the sinks."),
    ] = False,
    processes: Processes = None,
    json: Json = False,
) -> None:
    """Fold the log again in memory and compare everything that is stored with the result. Reads only.

    The log's chain is also compared with every kept head, in the data folder and in the files given. Heads that others hold
    prove that nothing before them was changed.
    """
    if keep and not heads:
        raise refused("keep", "no --heads", "with --heads alone")
    if heads:
        _heads(partition, against or [], keep=keep, json=json)
        return
    from engramlog_server.ops.kept.heads import (
        Against,
        HeadFile,
        compare_receipts,
        compare_values,
        heads_path,
        read_copy,
    )
    from engramlog_server.ops.processes.shares import PartitionTask
    from engramlog_server.ops.settings import load_settings

    copies = {str(path): read_copy(path) for path in against or ()}
    with _store() as store, _bar(json) as bar:
        chosen = _chosen(partition, store.identity.partitions)
        _need_the_key(store)
        file = HeadFile(heads_path(load_settings(), store.identity.store_id))
        compared = Against(store, {str(file.path): file.read(), **copies})
        tasks = [PartitionTask(number, store.identity.tags[number], compared.seqs(number)) for number in chosen]
        with _done("verify", store, tasks, processes, bar) as parts:
            verdicts = [one.found for one in parts if one.found is not None]
        verdicts.sort(key=attrgetter("partition"))
        for verdict in verdicts:
            compared.compare(verdict)
        verdicts.append(verify_identity(store))
        compared.compare_files(verdicts[-1])
        receipts = compare_receipts(store, chosen, verdicts[-1])
        rejections = compare_values(store, chosen, verdicts[-1])
        answer = verified(verdicts) | {"heads": compared.told(), "receipts": receipts, "accepted": compared.accepted()}
        restored = store.identity.restored
        answer |= {"rejections": rejections, "restored": None if restored is None else restored.told}
    show(answer, json, render_verified)
    raise typer.Exit(0 if answer["ok"] else 1)


def _heads(partition: list[int] | None, against: list[Path], *, keep: bool, json: bool) -> None:
    """Show the heads, or compare those of a file; exit code 1 where the log does not meet them all."""
    from engramlog_server.api.services.events import Heads
    from engramlog_server.ops.kept.heads import HeadFile, heads_path, keep_now, read_copy
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.projections.redis.create import EVERYTHING

    if partition or len(against) > 1 or (keep and against):
        raise refused("heads", "--partition, --keep with --against, or several files", "one file of heads, or none")
    settings = load_settings()
    held = read_copy(against[0]) if against else None
    with _store() as store:
        file = HeadFile(heads_path(settings, store.identity.store_id))
        if keep:
            keep_now(store, settings)
        service = Heads(store.wires, store.identity, file.read)
        if held is not None:
            compared = service.compare(held, EVERYTHING)
            show(compared, json, generic.answer)
            raise typer.Exit(0 if compared["agrees"] else 1)
        found = service.heads()
    keeping = found["keeping"]
    told = {
        "store_id": found["store_id"],
        "heads": found["heads"],
        "file": str(file.path),
        "lines": keeping["lines"] if keeping else 0,
        "last": keeping["last"] if keeping else None,
    }
    show(told, json, generic.answer)


def verify_identity(store: OpenStore) -> Findings:
    """What belongs to no partition."""
    from engramlog_server.consumers.verify.store import verify_store

    with closing(store.wire()) as wire:
        return verify_store(wire)


def verified(verdicts: list[Findings]) -> dict[str, Any]:
    """What a verification found, JSON-ready."""
    from engramlog_server.consumers.verify.findings import MOST_UNOPENED_NAMED
    from engramlog_server.projections.fold.partition import DIGEST_MODULUS

    differences = [difference for verdict in verdicts for difference in verdict.differences]
    return {
        "ok": not differences,
        "events": sum(v.events for v in verdicts),
        "memories": sum(v.memories for v in verdicts),
        "digest": f"{sum(v.digest for v in verdicts) % DIGEST_MODULUS:032x}",
        "differences": differences,
        "untold": sum(v.untold for v in verdicts),
        "erased": sum(v.erased for v in verdicts),
        "wordless": sum(v.wordless for v in verdicts),
        "unopened": sum(v.unopened for v in verdicts),
        "unopened_at": [position for v in verdicts for position in v.unopened_at][:MOST_UNOPENED_NAMED],
        "chains": {str(v.partition): v.head for v in verdicts if v.partition >= 0},
    }


def render_verified(answer: dict[str, Any]) -> None:
    """The same for people."""
    if answer["erased"]:
        out.print(
            f"[dim]{answer['erased']:,} of owners who were erased: nobody can read them, and the chain runs over them[/]"
        )
    if answer["wordless"]:
        out.print(
            f"[dim]{answer['wordless']:,} whose words were erased: what folds take of them is left, and the chain runs over them[/]"
        )
    if answer["unopened"]:
        first, more = ", ".join(answer["unopened_at"]), answer["unopened"] > len(answer["unopened_at"])
        out.print(
            f"[bold yellow]{answer['unopened']:,} not opened[/] at {first}{' and on' if more else ''}: their salt is"
            " gone, so their bodies cannot be checked"
        )
    if told := answer.get("restored"):
        state = "taken over since" if told["taken_over"] else "a copy, which takes nothing new"
        out.print(
            f"[bold yellow]restored[/] from backup {told['backup']}, up to {told['moment']}"
            f" ({many(told['events'], 'event')}); {state}"
        )
    for one in answer.get("accepted", ()):
        where = f"{one['partition']}:{one['seq']}"
        out.print(f"[bold yellow]a changed log was accepted[/] from {where} on, {one['at']}: {escape(one['reason'])}")
    if answer["ok"]:
        out.print(
            f"[bold green]ok[/] {many(answer['events'], 'event')}, {many(answer['memories'], 'memory', 'memories')},"
            f" digest {answer['digest']}"
        )
        return
    differences = len(answer["differences"]) + answer["untold"]
    out.print(f"[bold red]{many(differences, 'difference')}[/]")
    named = ("partition", "what", "owner", "memory")
    rows = [
        {name: str(one.get(name, "")) for name in named}
        | {"details": Text(plain({name: value for name, value in one.items() if name not in named}))}
        for one in answer["differences"]
    ]
    tabulate([Column(name, takes_rest=name in ("what", "details")) for name in (*named, "details")], rows)


def replay_all(given: Mapping[str, Any], *, count: int | None, json: bool) -> Mapping[str, Any]:
    """The answer, with a bar on standard error meanwhile. `count`: processes. Raises InputError, StoreError."""
    from engramlog_server.api.services.replaying import told_of, whole_asked
    from engramlog_server.events.partitions import LogKeys
    from engramlog_server.ops.commands.opening import patient
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
