"""`engramlog console`: the memory in a browser, by a link that works once; what it needs is started where nobody serves yet."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from api.cli import completing
from api.cli.app import Json, app, err, print_json
from events.errors import BadSetting

if TYPE_CHECKING:
    from ops.processes.banner import Served
    from ops.settings import Settings

BROWSER_SECONDS = 60.0
"""How long a browser may take until it has the page; the file that leads it there goes then."""
CHAPTERS = 12
"""Of the demo's story."""
PARTLY = 3
"""Exit code where the link was printed, and no browser came."""
TOLD = {
    "no browser": "no browser was found here: open the link yourself, on this machine",
    "no file": "the data folder takes no file that leads the browser: open the link yourself, on this machine",
    "not opened": "the browser could not be started: open the link yourself",
    "not used": "no browser has come: open the link yourself (one that is installed as a snap cannot read the data folder)",
}


@app.command(epilog="Example: `engramlog console alice`; with nothing of your own yet: `engramlog console --demo`")
def console(
    owner: Annotated[
        str | None,
        typer.Argument(help="Whose memories to begin with.", show_default=False, autocompletion=completing.owners),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the link alone, and leave the browser to you.")
    ] = False,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo", help="On a store of its own with the story of `engramlog demo`, which is gone afterwards."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Open the memory in a browser: the console of the service that runs, or of one that is started here, until Ctrl-C.

    The link is printed too. It works once, within ten minutes, and on this machine alone; ask again for another.

    The browser gets it by a file in the data folder, so that it stands on no command line. A browser that is installed as a snap
    cannot read that folder: open the printed link then.

    Exit codes: 0 the browser has it, or it was not to be opened; 3 the link was printed, and no browser came for it.
    """
    from api.requests.checks import check_owner
    from ops.settings import load_settings

    if owner is not None:
        check_owner(owner)
    settings = load_settings()
    if demo:
        _of_the_demo(settings, owner, no_open=no_open, as_json=json)
        return
    code = _of_the_service(settings, owner, no_open=no_open, as_json=json)
    if code is not None:
        raise typer.Exit(code)
    _served_here(settings, owner, no_open=no_open, as_json=json)
    _over()


def link_to(link: str, owner: str | None) -> str:
    """The link that goes on to an owner's memories; what stands behind the `#` is read as a query is."""
    if owner is None:
        return link
    path = f"/owners/{quote(owner, safe='')}/memories"
    return f"{link}&to={quote(path, safe='/')}"


def _of_the_service(settings: Settings, owner: str | None, *, no_open: bool, as_json: bool) -> int | None:
    """Open the console of the service of the data folder; the exit code, None where none is on a port."""
    from ops.asking.console_code import FolderService
    from ops.commands.browser import opened

    service = FolderService(settings)
    given = service.code()
    if given is None or given.page is None:
        return None
    link = link_to(f"{given.page}/#code={given.code}", owner)
    _tell(link, given.ends_in, as_json=as_json)
    if no_open:
        return 0
    folder = settings.data.expanduser().resolve()
    came = opened(folder, link, partial(service.state, given.code), BROWSER_SECONDS, Flag())
    _say(came)
    return 0 if came == "used" else PARTLY


def _served_here(settings: Settings, owner: str | None, *, no_open: bool, as_json: bool) -> None:
    """Serve until Ctrl-C, and open the console once it does."""
    from ops.commands.notices import patient
    from ops.logs import start_logging, teller
    from ops.processes.up import up

    pretty = sys.stderr.isatty() and not as_json
    start_logging(settings.log_level, component="supervisor", pretty=pretty)
    ended, opening = Flag(), list[Thread]()

    def greet(served: Served) -> None:
        _greeted(served, owner, ended, opening, settings, no_open=no_open, as_json=as_json, pretty=pretty)

    try:
        up(settings, teller(), on_wait=patient(err), greet=greet, pretty=pretty)
    finally:
        ended.set()
        for thread in opening:
            thread.join(1.0)  # it takes its file away


def _greeted(
    served: Served,
    owner: str | None,
    ended: Flag,
    opening: list[Thread],
    settings: Settings,
    *,
    no_open: bool,
    as_json: bool,
    pretty: bool,
) -> None:
    from ops.commands.browser import opened
    from ops.processes.banner import banner

    if pretty:
        err.print(Text(banner(served._replace(console=None)), "bold"), soft_wrap=True)
    if served.console is None:
        err.print("[yellow]there is no link: nobody is admitted (`engramlog alarms`)[/]")
        return
    link = link_to(served.console.url, owner)
    _tell(link, served.console.ends_in, as_json=as_json)
    if no_open:
        return
    state, folder = served.console.state, settings.data.expanduser().resolve()

    def open_it() -> None:
        came = opened(folder, link, state, BROWSER_SECONDS, ended)
        if not ended.is_set():
            _say(came)

    opening.append(Thread(target=open_it, name="console", daemon=True))
    opening[-1].start()


def _of_the_demo(settings: Settings, owner: str | None, *, no_open: bool, as_json: bool) -> None:
    """The same on a store of its own."""
    from ops.commands.demo import Demo
    from ops.commands.demo_talk import DemoTalk
    from ops.settings import of_its_own
    from ops.wiring import open_application

    if not err.is_terminal and not as_json:
        err.print("the demo's story is told first")
    with TemporaryDirectory(prefix="engramlog-demo-") as scratch:
        settings = of_its_own(settings, Path(scratch) / "store")
        settings = settings.model_copy(update={"port": _free(settings), "metrics_port": None})
        with err.status("the demo's story is told") as status, open_application(settings) as application:
            heard = _Chapters(lambda number: status.update(f"the demo's story is told: {number} of {CHAPTERS}"))
            Demo(application, heard).tell()
            DemoTalk(application, heard).tell()
        _served_here(settings, owner, no_open=no_open, as_json=as_json)
    _over()


class _Chapters(Console):
    """Hears a story without telling it, and says where it is."""

    def __init__(self, at: Callable[[int], None]) -> None:
        super().__init__(file=StringIO(), width=100)
        self._at = at
        self._number = 0

    def print(self, *told: Any, **_how: Any) -> None:
        """A chapter begins with a panel."""
        if any(isinstance(one, Panel) for one in told):
            self._number += 1
            self._at(self._number)


def _free(settings: Settings) -> int:
    """The port of the settings, or any where it is taken."""
    from api.http.server.listener import claim

    try:
        claim(settings.host, settings.port).close()
    except BadSetting:
        return 0
    return settings.port


def _tell(link: str, ends_in: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"url": link, "ends_in": ends_in})
        return
    typer.echo(link)
    err.print(f"[dim]it works once, within {ends_in // 60} minutes, on this machine[/]")


def _say(came: str) -> None:
    if came in TOLD:
        err.print(f"[yellow]{TOLD[came]}[/]", soft_wrap=True)


def _over() -> None:
    from ops.processes.ending import over

    over()
