"""`python -m benchmarks NAME`: speed, quality, room and servers; `--help` lists the names."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from benchmarks import evaluate, speed
from benchmarks.measure import show
from engramlog_server.events.errors import BadSetting, EngramlogError, InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark; gives its exit code."""
    parser = ArgumentParser(prog="python -m benchmarks", description="Measure speed and quality.")
    commands = parser.add_subparsers(required=True, metavar="NAME")
    command = commands.add_parser("bench", help="append, fold, rebuild, search, context: speed against limits")
    speed.add_arguments(command)
    command.set_defaults(run=speed.run)
    command = commands.add_parser("peers", help="the same texts through other libraries")
    speed.add_peer_arguments(command)
    command.set_defaults(run=speed.run_peers)
    command = commands.add_parser("eval", help="quality of search, context, extraction, contradiction, everyday talk")
    evaluate.add_arguments(command)
    command.set_defaults(run=evaluate.run)
    for name, run, text in (
        ("facts", run_facts, "facts that extraction misses in one set, and what it keeps of chats"),
        ("rows", run_rows, "own rows: figures of each kind, and the questions that failed"),
        ("profile", run_profile, "print lines under *About the user* after imports, to be read by a person"),
        ("stop", run_stop, "where related lines end: what each share of the best score brings"),
        ("obedience", run_obedience, "whether the model of the settings obeys orders in memories"),
        ("room", run_room, "bytes an event takes in Redis"),
        ("servers", run_servers, "servers of the Redis protocol in turns: cost, room, start, faults"),
        ("questions", run_questions, "CPU of a question by meaning, 1,000 and 10,000 memories"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--json", action="store_true", help="print JSON")
        command.set_defaults(run=run)
    add = commands.choices["facts"].add_argument
    add("set", type=Path, help="a folder with turns.jsonl and marked.jsonl, or with chats.jsonl")
    add = commands.choices["rows"].add_argument
    add("--kinds", default="", help="some kinds, separated by commas [default: all]")
    add("--wait", type=float, default=0.0, help="seconds between writing and asking [default: 0]")
    add = commands.choices["profile"].add_argument
    add("data", type=Path, help="a folder of sets, or one set")
    add("--lines", type=int, default=100, help="how many lines [default: 100]")
    add = commands.choices["obedience"].add_argument
    add("--runs", type=int, default=24, help="questions, 12 attacks take turns [default: 24]")
    add = commands.choices["questions"].add_argument
    add("--memories", default="1000,10000", help="sizes [default: 1000,10000]")
    add = commands.choices["servers"].add_argument
    add("paths", nargs="+", type=Path, help="paths of redis-server or valkey-server")
    add("--events", type=int, default=10_000, help="events in a round [default: 10000]")
    add("--rounds", type=int, default=5, help="[default: 5]")
    add("--tries", type=int, default=20, help="of each fault [default: 20]")
    options = parser.parse_args(arguments)
    try:
        return options.run(options) or 0
    except EngramlogError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def run_facts(options: Namespace) -> None:
    """The figures of one set, each fact that is not found, and each statement of chats with what a person read it as."""
    from benchmarks.facts_quality import CHATS, evaluate_chats, evaluate_facts  # noqa: PLC0415

    figures = (evaluate_chats if (options.set / CHATS).exists() else evaluate_facts)(options.set)
    missed, kept = figures.pop("missed", []), figures.pop("kept", [])
    show({"facts": [figures], "missed": missed, "kept": kept}, as_json=options.json)


def run_rows(options: Namespace) -> None:
    """The figures of own rows, and each question that failed. Raises InputError for an unknown kind."""
    from benchmarks.rows import KINDS, evaluate_rows  # noqa: PLC0415
    from benchmarks.service import fresh_service  # noqa: PLC0415

    kinds = options.kinds.split(",") if options.kinds else []
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"kinds: got {kind!r}; allowed: {', '.join(KINDS)}")
    with fresh_service() as service:
        answer = evaluate_rows(service, kinds, wait=options.wait)
    show({"own rows": answer["figures"], "failed": answer["failed"]}, as_json=options.json)


def run_profile(options: Namespace) -> None:
    """Lines under *About the user*, each with the turn that it comes from."""
    from benchmarks.profile import profile_lines  # noqa: PLC0415

    show({"about the user": profile_lines(options.data, options.lines)}, as_json=options.json)


def run_stop(options: Namespace) -> None:
    """A row for each rule and language."""
    from benchmarks.everyday import stop_rows  # noqa: PLC0415

    show({"where related lines end": stop_rows()}, as_json=options.json)


def run_room(options: Namespace) -> None:
    """Bytes an event, and an account of them."""
    from benchmarks.room import measure_room  # noqa: PLC0415

    show(measure_room(), as_json=options.json)


def run_servers(options: Namespace) -> None:
    """Medians of each server, and how many faults lost nothing. Raises InputError for a path that is no server."""
    from benchmarks.servers import compare  # noqa: PLC0415

    try:
        tables = compare(options.paths, options.events, options.rounds, options.tries)
    except ValueError as error:
        raise InputError(str(error)) from error
    show(tables, as_json=options.json)


def run_questions(options: Namespace) -> None:
    """CPU of a question by meaning, for each language and size."""
    from benchmarks.speed import measure_questions  # noqa: PLC0415

    sizes = tuple(int(size) for size in options.memories.split(","))
    show({"questions": measure_questions(sizes)}, as_json=options.json)


def run_obedience(options: Namespace) -> int:
    """Counts over all runs and by attack; 3 if some runs have no answer. Raises BadSetting without a model."""
    from benchmarks.obedience import COUNTS, evaluate_obedience  # noqa: PLC0415
    from engramlog_server.ops.models import chat_of  # noqa: PLC0415
    from engramlog_server.ops.settings import load_settings  # noqa: PLC0415

    make = chat_of(load_settings())
    if make is None:
        raise BadSetting("ENGRAMLOG_MODEL: got nothing; allowed: a model's name", setting="ENGRAMLOG_MODEL")
    chat = make()
    answer = evaluate_obedience(chat, options.runs)
    total = {"attack": "all", "language": "", **{name: answer["all"][name] for name in COUNTS}}
    failures = [{"runs": runs, "failed with": message} for message, runs in answer["failures"].items()]
    usage = {"model": answer["model"], "unanswered": answer["unanswered"], **answer["usage"]}
    show({"obedience": [total, *answer["attacks"]], "usage": [usage], "failures": failures}, as_json=options.json)
    return 3 if answer["unanswered"] else 0


if __name__ == "__main__":
    sys.exit(main())
