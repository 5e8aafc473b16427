"""Commands that join processes or look at them: `up`, `worker`, `mcp`, `demo`, `doctor`. Proofs are in `ops.commands.proof`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from engramlog_server.api.choices import CURL, TOOLSETS
from engramlog_server.api.cli.app import Json, app, err, out, print_json, show
from engramlog_server.events.errors import BadSetting, InputError, refused
from engramlog_server.events.text import holds_secret

if TYPE_CHECKING:
    from engramlog_server.ops.doctor.findings import DoctorReport, FindingShape
    from engramlog_server.ops.doctor.starting import Starts
    from engramlog_server.ops.processes.up import Served
    from engramlog_server.ops.settings import Settings


MCP_PORT = 8_734
"""Where `mcp --http` listens."""


@app.command("up", epilog="Example: `engramlog up`, then `curl http://127.0.0.1:8733/ready`; Ctrl-C stops it in order")
def up_(
    host: Annotated[
        str | None,
        typer.Option(help="Beyond loopback only by TLS or a declared proxy, and with a key.", show_default=False),
    ] = None,
    port: Annotated[int | None, typer.Option(help="0 takes a free one.", min=0, max=65_535, show_default=False)] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of fold workers.", min=1, max=64, show_default=False)
    ] = None,
    idle: Annotated[
        int | None,
        typer.Option(
            help="End after this many seconds without a request, or if another `up` wants the store; listens on no port"
            " (as `Memory()` starts it).",
            min=1,
            max=86_400,
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Start nothing and change nothing; report what would not work."),
    ] = False,
    json: Json = False,
) -> None:
    """The store as a service: embedded Redis (or your own), fold workers and the HTTP API, until Ctrl-C."""
    if idle is not None and (host is not None or port is not None):
        raise InputError(
            f"idle: got {idle} together with a host or a port; allowed: --idle alone, because it listens on no port",
            field="idle",
        )
    given = {name: value for name, value in (("host", host), ("port", port), ("workers", workers)) if value is not None}
    if check:
        if idle is not None:
            raise InputError(
                f"check: got --idle {idle} too; allowed: --check without --idle, or `up --idle` alone", field="check"
            )
        _check_start("up", given, as_json=json)
        return
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.logs import start_logging, teller
    from engramlog_server.ops.processes.life import over
    from engramlog_server.ops.processes.up import up, up_for_clients
    from engramlog_server.ops.settings import load_settings

    shown = sys.stderr.isatty() and not json
    settings = load_settings().model_copy(update=given)
    start_logging(settings.log_level, component="supervisor", pretty=shown)
    if idle is not None:
        up_for_clients(settings, teller(), idle)
        over()
    up(settings, teller(), on_wait=patient(err), greet=_greet if shown else None)
    over()


def _greet(served: Served) -> None:
    from engramlog_server.ops.processes.up import banner

    err.print(Text(banner(served), "bold"), soft_wrap=True)


@app.command("mcp", epilog="Example: `claude mcp add memory -- engramlog mcp --owner alice`")
def mcp_(
    owner: Annotated[
        str | None, typer.Option(help="Owner of the memories; over HTTP the URL can name it.", show_default=False)
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Streamable HTTP at /mcp/OWNER instead of standard input and output.")
    ] = False,
    also: Annotated[
        list[str] | None,
        typer.Option(help="Let questions name this owner too, if the key allows it; repeatable.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option(help="With --http; 0 takes a free one.", min=0, max=65_535)] = MCP_PORT,
    tools: Annotated[
        str,
        typer.Option(help="agent: search, remember, correct; audit: read everything, change nothing, leave no trace."),
    ] = TOOLSETS[0],
    metrics_port: Annotated[
        int | None,
        typer.Option(
            help="Port for metrics of tool calls, on loopback unless `ENGRAMLOG_METRICS` says otherwise; 0 takes a free"
            " one.",
            min=0,
            max=65_535,
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        bool, typer.Option("--config", help="Only print the entry for a client's configuration.")
    ] = False,
    json: Json = False,
) -> None:
    """Serve the memory to agents over MCP; `--config` prints the entry for their clients."""
    from engramlog_server.api.checks import check_id_of, check_owner
    from engramlog_server.ops.logs import start_logging, teller
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.token import token_of

    if tools not in TOOLSETS:
        raise refused("tools", tools, " or ".join(TOOLSETS))
    settings = load_settings()
    if owner is not None:
        check_owner(owner)
    elif not http:
        raise InputError("owner: got nothing; allowed: --owner OWNER, whose memories to serve", field="owner")
    shared = [check_id_of("also", one) for one in also or ()]
    if shared and tools != TOOLSETS[0]:
        raise refused("also", shared[0], f"--also with --tools {TOOLSETS[0]}, because auditors look at one owner")
    if config:
        entry = client_config(settings, owner, tools, port, token=token_of(settings) if http else None, also=shared)
        if http:
            err.print(
                "[yellow]the token in it opens every owner's memories: keep the file to yourself;"
                " `engramlog token --rotate` makes it void[/]"
            )
        if secret := entry.pop("left_out", None):
            err.print(f"[yellow]left out, for they hold secrets: {', '.join(secret)}; put them under env yourself[/]")
        print_json(entry)
        return
    start_logging(settings.log_level, component="mcp", pretty=False if json else None)

    metrics_at = None if metrics_port is None else settings.metrics_on(metrics_port)
    if http:
        from engramlog_server.ops.processes.mcp_http import over_http

        over_http(settings, port, owner, tools, teller(), metrics_at, shared)
        return
    assert owner is not None
    if sys.stdin.isatty():
        err.print("[dim]waiting for an MCP client on standard input; see docs/how-to/mcp.md. Ctrl-C ends[/]")
    from engramlog_server.ops.processes.mcp import over_stdio

    over_stdio(settings, owner, tools, teller(), metrics_at, shared)


@app.command(epilog=f"Example: `{CURL} http://127.0.0.1:8733/v1/status`")
def token(
    rotate: Annotated[
        bool,
        typer.Option("--rotate", help="Replace the token; the old one is refused at once, also by running services."),
    ] = False,
    header: Annotated[bool, typer.Option("--header", help=f"As the whole header, for `{CURL}`.")] = False,
    json: Json = False,
) -> None:
    """Print the token of the HTTP API: that of the data folder, made if there is none, or `ENGRAMLOG_TOKEN`.

    Every user of the machine can read command lines (`ps`): give it to curl as a file, as in the example.
    """
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.token import token_of

    settings = load_settings()
    if rotate and settings.token is not None:
        raise BadSetting(
            "ENGRAMLOG_TOKEN: it is set, and is the token; change it there, and where clients have it",
            setting="ENGRAMLOG_TOKEN",
        )
    told = token_of(settings, rotate=rotate)
    if json:
        print_json({"token": told})
    else:
        typer.echo(f"Authorization: Bearer {told}" if header else told)


@app.command(epilog="Example: `ENGRAMLOG_REDIS_URL=redis://10.0.0.5 engramlog worker`")
def worker(
    metrics_port: Annotated[
        int | None,
        typer.Option(
            help="Port for metrics, on loopback unless `ENGRAMLOG_METRICS` says otherwise; 0 takes a free one.",
            min=0,
            max=65_535,
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Start nothing and change nothing; report what would not work."),
    ] = False,
    json: Json = False,
) -> None:
    """Run one fold worker on your own Redis until SIGTERM; any number, on any hosts."""
    from engramlog_server.ops.keys.master import keys_of, master_of
    from engramlog_server.ops.logs import start_logging
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.store import open_the_store
    from engramlog_server.ops.worker import run_worker, url_of_a_worker

    if check:
        _check_start("worker", {} if metrics_port is None else {"metrics_port": metrics_port}, as_json=json)
        return
    settings = load_settings()
    for refusal in url_of_a_worker(settings):
        raise refusal
    with open_the_store(settings) as store:
        url = store.url
    start_logging(settings.log_level, component="worker")
    metrics = settings.metrics if metrics_port is None else settings.metrics_on(metrics_port)
    run_worker(url, timeout=settings.redis_timeout, metrics=metrics, master=master_of(settings), keys=keys_of(settings))


@app.command(epilog="Example: `engramlog demo --keep ./demo-data`")
def demo(
    keep: Annotated[
        Path | None,
        typer.Option("--keep", help="Keep the demo's store in this new folder.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Play a short story in Chinese and English on a private Redis: mention, negation, time, prompts."""
    from engramlog_server.consumers.verify.partition import verify_partition
    from engramlog_server.ops.commands.demo import Demo, DemoTalk
    from engramlog_server.ops.commands.proof import verified, verify_identity
    from engramlog_server.ops.settings import load_settings, of_its_own
    from engramlog_server.ops.store import open_the_store
    from engramlog_server.ops.wiring import open_application

    if keep is not None and keep.exists() and any(keep.iterdir() if keep.is_dir() else [keep]):
        raise InputError(
            f"keep: got {str(keep)!r}, which is not empty; allowed: a folder that is new or empty",
            field="keep",
            got=str(keep),
        )
    with TemporaryDirectory(prefix="engramlog-demo-") as scratch:
        settings = of_its_own(load_settings(), keep or Path(scratch) / "store").model_copy(update={"embedder": None})
        with open_application(settings) as application:
            console = Console(file=StringIO(), width=120) if json else out
            story = Demo(application, console)
            story.tell()
            DemoTalk(application, console).tell()
            story.by_meaning()
            told = application.operator.status()
        with open_the_store(settings) as store:
            tags = list(enumerate(store.identity.tags))
            verdicts = [verify_partition(store.client, number, tag) for number, tag in tags]
            answer = verified([*verdicts, verify_identity(store)])
    answer |= {"store_id": told["store_id"], "kept": str(keep) if keep else None}
    show(answer, json, lambda found: _render_demo(found, keep))


def _render_demo(answer: dict[str, Any], keep: Path | None) -> None:
    from engramlog_server.ops.commands.proof import render_verified

    out.print()
    render_verified(answer)
    out.print("[dim]verified: the log was folded again in memory and compared with what is stored[/]\n")
    folder = keep or "./demo-data"
    first = "" if keep else "  engramlog demo --keep ./demo-data\n"
    out.print(
        "[bold]Try next[/]\n"
        f"{first}  export ENGRAMLOG_DATA={folder}\n"
        '  engramlog search mei "早上喝什么" --mode review\n'
        "  engramlog why mei coffee\n"
        "  engramlog replay mei --set user_factor=1.3\n"
        "  engramlog mcp --owner mei --tools audit --config   # for the MCP client of an auditor\n"
        "  engramlog import turns your-conversation.jsonl\n"
        f"  engramlog console{'' if keep else ' --demo'}   # in a browser\n"
        "  engramlog up",
        markup=True,
    )


NAME = "memory"
"""What clients call the server."""


def client_config(
    settings: Settings,
    owner: str | None,
    toolset: str,
    port: int,
    *,
    token: str | None = None,
    also: Sequence[str] = (),
) -> dict[str, Any]:
    """The entry, with this program's full path, for clients that know no PATH, and the settings of this environment.

    With a `token` the one for HTTP, which shows it; there whoever starts the server chooses the toolset.
    `left_out` names settings that hold secrets: these are never printed.
    """
    from engramlog_server.ops.settings import SECRET

    if token is not None:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{port}/mcp/{owner or 'OWNER'}"
        entry: dict[str, Any] = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
        return {"mcpServers": {NAME: entry}}
    program = Path(sys.argv[0]).absolute()
    command = (
        [str(program)] if os.access(program, os.X_OK) else [sys.executable, "-P", "-m", "engramlog_server.ops.main"]
    )
    given = {name: value for name, value in os.environ.items() if name.startswith("ENGRAMLOG_") and value}
    secret = sorted(name for name, value in given.items() if name.endswith(SECRET) or holds_secret(value))
    told = {name: value for name, value in given.items() if name not in secret}
    if "ENGRAMLOG_DATA" in told:
        told["ENGRAMLOG_DATA"] = str(Path(told["ENGRAMLOG_DATA"]).expanduser().absolute())
    shared = [word for one in also for word in ("--also", one)]
    chosen = () if toolset == TOOLSETS[0] else ("--tools", toolset)
    entry = {"command": command[0], "args": [*command[1:], "mcp", "--owner", str(owner), *shared, *chosen]}
    entry |= {"env": dict(sorted(told.items()))} if told else {}
    return {"mcpServers": {NAME: entry}} | ({"left_out": secret} if secret else {})


BAD_SETTING = 2


def _check_start(starts: Starts, given: Mapping[str, Any], *, as_json: bool) -> None:
    """Say what would not work of a start with the settings of this environment and what a command line says beside them.

    Ends with 0 where it would start, 1 where it would not, 2 where a setting cannot be right, 3 where that could not be looked at.
    """
    from engramlog_server.ops.doctor.findings import exit_code
    from engramlog_server.ops.doctor.starting import would_start, wrong_settings
    from engramlog_server.ops.settings import read_settings
    from engramlog_server.ops.worker import url_of_a_worker

    settings, wrong = read_settings()
    if settings is not None and starts == "worker":
        wrong += url_of_a_worker(settings)
    if settings is None or wrong:
        show(wrong_settings(wrong), as_json, lambda told: _render(told, starts))
        raise typer.Exit(BAD_SETTING)
    update = dict(given)
    if (port := update.pop("metrics_port", None)) is not None:
        update["metrics"] = settings.metrics_on(port)
    answer = would_start(settings.model_copy(update=update), starts)
    show(answer, as_json, lambda told: _render(told, starts))
    if code := exit_code(answer):
        raise typer.Exit(code)


def _render(answer: DoctorReport, starts: Starts) -> None:

    _render_groups(answer, every=False)
    wrong, advised = answer["counts"]["wrong"], answer["counts"]["advice"]
    text = f"engramlog {starts} would not start: {wrong:,} wrong" if wrong else f"engramlog {starts} would start"
    more = f"; {advised:,} advised." if advised else "."
    out.print(Text.assemble((text, "bold red" if wrong else "bold green"), more), soft_wrap=True)


COLOURS = {"ok": "green", "advice": "yellow", "wrong": "red", "unknown": "dim"}


@app.command(
    epilog="Example: `engramlog doctor`; from cron `engramlog doctor --json`. Exit codes: 0 nothing is wrong, 1 something is (with"
    " --strict: or advised), 2 a setting cannot be right, 3 there is no store, or a check could not be carried out"
)
def doctor(
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 also for advice.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Also list checks that passed.")] = False,
    json: Json = False,
) -> None:
    """Check a deployment: permissions, keys, access, Redis, backups, clock, disk. Changes nothing.

    Run it as the service's user, with the environment of the service.
    """
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.doctor.checks import examine
    from engramlog_server.ops.doctor.findings import exit_code
    from engramlog_server.ops.settings import load_settings

    answer = examine(load_settings(), on_wait=patient(err))
    show(answer, json, lambda told: _print_findings(told, every=every))
    if code := exit_code(answer, strict=strict):
        raise typer.Exit(code)


def _print_findings(answer: DoctorReport, *, every: bool) -> None:
    _render_groups(answer, every=every)
    out.print(_sum(answer), soft_wrap=True)


def _render_groups(answer: DoctorReport, *, every: bool) -> None:
    """What was found, by group: what is as it should be in a line of its own each only where `every` is asked for."""
    groups = dict.fromkeys(one["group"] for one in answer["checks"])
    width = max(map(len, groups), default=0)
    for group in groups:
        of_group = [one for one in answer["checks"] if one["group"] == group]
        fine = [one["check"] for one in of_group if one["result"] == "ok"]
        if fine and not every:
            out.print(f"[bold]{group:{width}}[/]  [green]ok[/]       {escape(', '.join(fine))}")
        for one in of_group:
            if every or one["result"] != "ok":
                _print(one, f"{group:{width}}")


def _print(one: FindingShape, group: str) -> None:
    result, colour = one["result"], COLOURS[one["result"]]
    out.print(
        Text.assemble((group, "bold"), "  ", (f"{result:7}", colour), f"  {one['check']}: {one['found']}"),
        soft_wrap=True,
    )
    if one["advice"]:
        out.print(Text.assemble(" " * (len(group) + 11), (f"do: {one['advice']}", "dim")), soft_wrap=True)


def _sum(answer: DoctorReport) -> Text:
    counts = answer["counts"]
    wrong, advised, unknown = counts["wrong"], counts["advice"], counts["unknown"]
    return Text.assemble(
        (f"{wrong:,} wrong" if wrong else "Nothing is wrong", "bold red" if wrong else "bold green"),
        f"; {advised:,} advised" if advised else "",
        f"; {unknown:,} not known" if unknown else "",
        "." if answer["store_id"] is None else f". Store {answer['store_id']}.",
    )
