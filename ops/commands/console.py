"""`engramlog console`: the memory in a browser, by a link that works once; what it needs is started where nobody serves yet."""

from __future__ import annotations

import json
import os
import secrets
import socket
import stat
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from html import escape
from http.client import HTTPConnection, HTTPException
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, Self
from urllib.parse import quote

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from engramlog_server.api.cli import completion
from engramlog_server.api.cli.app import Json, app, err, print_json
from engramlog_server.events.errors import BadSetting, EngramlogError
from engramlog_server.ops.clock import now_micros
from engramlog_server.ops.durable import is_ours
from engramlog_server.ops.running_service import HEARD_SECONDS, SOCKET, NoService, is_this_user, short_name
from engramlog_server.ops.token import read_token

if TYPE_CHECKING:
    from engramlog_server.ops.processes.up import Served
    from engramlog_server.ops.settings import Settings


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
        typer.Argument(help="Whose memories to begin with.", show_default=False, autocompletion=completion.owners),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the link.")] = False,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Use a temporary store with the story of `engramlog demo`."),
    ] = False,
    json: Json = False,
) -> None:
    """Open the console in a browser, of the running service or of one that is started here, until Ctrl-C.

    The link is printed too. It works once, within ten minutes, on this machine. The browser gets it from a file in the data
    folder, so it is on no command line. A browser installed as a snap cannot read that folder: open the printed link. Exit
    codes: 0 the browser has it, or --no-open; 3 no browser opened it.
    """
    from engramlog_server.api.checks import check_owner
    from engramlog_server.ops.settings import load_settings

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
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.logs import start_logging, teller
    from engramlog_server.ops.processes.up import up

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
    from engramlog_server.ops.processes.up import banner

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
    from engramlog_server.ops.commands.demo import Demo, DemoTalk
    from engramlog_server.ops.settings import of_its_own
    from engramlog_server.ops.wiring import open_application

    if not err.is_terminal and not as_json:
        err.print("recording the demo's story first")
    with TemporaryDirectory(prefix="engramlog-demo-") as scratch:
        settings = of_its_own(settings, Path(scratch) / "store")
        settings = settings.model_copy(update={"port": _free(settings), "metrics_port": None})
        with err.status("recording the demo's story") as status, open_application(settings) as application:
            heard = _Chapters(lambda number: status.update(f"recording the demo's story: {number} of {CHAPTERS}"))
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
    from engramlog_server.api.http.serve import claim

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
    from engramlog_server.ops.processes.life import over

    over()


FILES: Final = "console-*.html"
LEFT_SECONDS: Final = 600.0
"""A file that is older was left by a command that was killed: its code is over."""
LOOK_SECONDS: Final = 0.3
TEXT_BROWSERS: Final = frozenset({"www-browser", "links", "elinks", "lynx", "w3m"})
"""They run no scripts, and would take the terminal."""
Outcome = Literal["used", "no browser", "no file", "not opened", "not used"]


class Leading:
    """A file that leads a browser to a link, as long as this is open."""

    def __init__(self, folder: Path, link: str) -> None:
        """Raises OSError where it cannot be written."""
        _sweep(folder)
        self.path = folder / f"console-{secrets.token_hex(8)}.html"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(_page(link))
        except OSError:
            self._go()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take it away."""
        self._go()

    def _go(self) -> None:
        with suppress(OSError):
            self.path.unlink()


def opened(folder: Path, link: str, state: Callable[[], str], seconds: float, ended: Flag) -> Outcome:
    """Open a link in the user's browser, and tell what came of it within so many seconds, or until `ended`.

    `state` tells what became of the link's code: `waits`, `used`, or anything else where it opens nothing any more.
    """
    browser = browser_here()
    if browser is None:
        return "no browser"
    try:
        leading = Leading(folder, link)
    except OSError:
        return "no file"
    done: list[bool] = []
    with leading:
        # One that is started in the foreground is waited for until it is closed.
        Thread(target=_started, args=(browser, leading.path.as_uri(), done), name="browser", daemon=True).start()
        for _ in range(int(seconds / LOOK_SECONDS)):
            if (became := state()) != "waits":
                return "used" if became == "used" else "not used"
            if done == [False]:
                return "not opened"
            if ended.wait(LOOK_SECONDS):
                break
    return "not used"


def browser_here() -> Any | None:
    """The browser with windows that this user has here: that of BROWSER, or the desktop's; None where there is none."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return None
    name = os.path.basename(str(getattr(found, "name", "")))  # noqa: PTH119 - a command, not a path of ours
    return None if name in TEXT_BROWSERS else found


def _started(browser: Any, address: str, done: list[bool]) -> None:
    try:
        done.append(bool(browser.open(address)))
    except (OSError, webbrowser.Error):
        done.append(False)


def _page(link: str) -> str:
    told = escape(link)
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="referrer" content="no-referrer">\n'
        f'<meta http-equiv="refresh" content="0; url={told}">\n<title>Engramlog</title>\n'
        f'<p><a href="{told}">To the console</a></p>\n</html>\n'
    )


def _sweep(folder: Path) -> None:
    for left in folder.glob(FILES):
        with suppress(OSError):
            if now_micros() / 1e6 - left.lstat().st_mtime > LEFT_SECONDS:
                left.unlink()


CODES: Final = "/v1/console/codes"
STATE: Final = "/v1/console/codes/state"
MOST_ANSWER: Final = 64 * 1024
OK, UNAUTHORIZED, NOT_FOUND = 200, 401, 404


class ConsoleUnavailable(EngramlogError):
    """The service of the data folder runs, and opens no console."""


class CodeGiven(NamedTuple):
    """A code, and where it is used."""

    code: str
    ends_in: int
    """Seconds."""
    page: str | None
    """None where the service is on no port."""


class FolderService:
    """The service that listens in a data folder, asked with the folder's token."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data.expanduser().resolve()
        self._given = settings.token

    def code(self) -> CodeGiven | None:
        """A new code; None where no service listens. Raises ConsoleUnavailable where it gives none."""
        told = self._asked(CODES)
        return None if told is None else CodeGiven(str(told["code"]), int(told["ends_in"]), told["page"])

    def state(self, code: str) -> str:
        """What became of a code: `waits`, `used`, `over`, `unknown`; over where the service has ended."""
        try:
            told = self._asked(STATE, json.dumps({"code": code}).encode())
        except ConsoleUnavailable:
            told = None
        return "over" if told is None else str(told["state"])

    def _asked(self, path: str, body: bytes = b"") -> Any:
        if not (is_ours(self._folder, stat.S_ISDIR) and is_ours(self._folder / SOCKET, stat.S_ISSOCK)):
            return None
        token = read_token(self._folder) if self._given is None else self._given.get_secret_value()
        if token is None:
            return None
        line = _Line(self._folder / SOCKET)
        try:
            try:
                line.connect()
            except (OSError, NoService):
                return None
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json", "connection": "close"}
            with suppress(
                BrokenPipeError, ConnectionResetError
            ):  # who is refused by his head is answered before his body came
                line.request("POST", path, body, headers)
            answer = line.getresponse()
            return _told(answer.status, answer.read(MOST_ANSWER))
        except (OSError, HTTPException, ValueError) as error:
            raise ConsoleUnavailable(f"the service of {self._folder} does not answer ({error}); ask again") from None
        finally:
            line.close()


def _told(status: int, body: bytes) -> Any:
    if status == OK:
        return json.loads(body)
    if status == UNAUTHORIZED:
        raise ConsoleUnavailable(
            "the service of the data folder has another token: is ENGRAMLOG_TOKEN set for it, or here, and not for both?"
        )
    if status == NOT_FOUND:
        raise ConsoleUnavailable("the running service is of a release without a console: stop it and start it again")
    raise ConsoleUnavailable(
        f"the service of the data folder refused it: {status} {body[:200].decode('utf-8', 'replace')}"
    )


class _Line(HTTPConnection):
    """HTTP over the socket in the folder, to this user's process alone."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=HEARD_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Raises OSError where nobody listens, NoService where another user does; `close` it in any case."""
        self.sock = line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(HEARD_SECONDS)
        with short_name(self._path) as name:
            line.connect(name)
        if not is_this_user(line):
            raise NoService("another user listens there")
