"""Opening the console in a browser without its code on any command line, which everybody on the machine could read.

The browser is given a file of the data folder that leads on to the link: the folder is this user's alone, and so is the file. It
goes as soon as the code is used or over.
"""

from __future__ import annotations

import os
import secrets
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from html import escape
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any, Final, Literal, Self

from ops.clock import now_micros

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
