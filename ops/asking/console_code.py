"""Asking the service of the data folder for a code that opens the console, and what became of one.

By the socket in the folder, and not by the port: whoever listens there is this user's process, while a port of this machine anybody
may have taken, who would be shown the token. The service tells at which address a browser finds it.
"""

from __future__ import annotations

import json
import socket
import stat
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final, NamedTuple

from events.errors import EngramlogError
from ops.asking.ask import SOCKET
from ops.asking.exchange import HEARD_SECONDS, Unheard, is_this_user, short_name
from ops.owned import is_ours
from ops.settings import Settings
from ops.token_file import read_token

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
            except (OSError, Unheard):
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
        raise ConsoleUnavailable(
            "the service of the data folder is of a release without a console: end it, and start it anew"
        )
    raise ConsoleUnavailable(
        f"the service of the data folder refused it: {status} {body[:200].decode('utf-8', 'replace')}"
    )


class _Line(HTTPConnection):
    """HTTP over the socket in the folder, to this user's process alone."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=HEARD_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Raises OSError where nobody listens, Unheard where another user does; `close` it in any case."""
        self.sock = line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(HEARD_SECONDS)
        with short_name(self._path) as name:
            line.connect(name)
        if not is_this_user(line):
            raise Unheard("another user listens there")
