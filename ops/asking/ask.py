"""What a command asks or tells, put to the service of its data folder where that is sure to answer as the command would.

The folder, the socket in it and whoever listens there are this user's alone, and the service is shown the folder's token. It
answers where it runs the same code under the same settings (`ops.asking.same`); else the command opens the store, as without it.
A command that is answered loads nothing of the application but its face.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from api.cli.asking import Lost, Reply
from events.errors import EngramlogError
from ops.asking.code import code_here
from ops.asking.exchange import NoAnswer, Unheard, exchanged
from ops.environment import all_told, data_folder
from ops.owned import is_ours
from ops.token_file import read_token

SOCKET: Final = "api.sock"
ADDRESS: Final = "/v1/command"
REDIS: Final = "ENGRAMLOG_REDIS_URL"
STORE_SECONDS: Final = 5.0
"""How long an answer about the store may take: a command that looks why a service hangs answers by itself then."""


def ask_service(route: tuple[str, str], given: Mapping[str, Any]) -> Reply | None:
    """The reply to an operation by its route; None where the command is to answer by itself. Raises Lost where no answer came."""
    told = all_told(os.environ)
    try:
        folder = data_folder(os.environ).expanduser().resolve()
        if not (is_ours(folder, stat.S_ISDIR) and is_ours(folder / SOCKET, stat.S_ISSOCK)):
            return None
        token = told.get("ENGRAMLOG_TOKEN") or read_token(folder)
        if token is None or not (token.isascii() and token.isprintable()):
            return None
        question = {"code": code_here(), "settings": told, "place": place(told), "route": route, "given": dict(given)}
        patience = {} if "owner" in given else {"answer": STORE_SECONDS}
        answer = exchanged(folder / SOCKET, token, ADDRESS, json.dumps(question).encode(), **patience)
    except (OSError, RuntimeError, ValueError, TypeError, EngramlogError, Unheard):
        return None  # nothing was asked
    except NoAnswer as lost:
        raise Lost(str(lost)) from None
    return _reply(answer)


def _reply(answer: bytes) -> Reply | None:
    try:
        document = json.loads(answer)
        if "left" in document:
            return None
        refused = document.get("refused")
        return Reply(document.get("answer"), refused, int(document.get("exit_code", 1)))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Lost(f"an answer that cannot be read: {type(error).__name__}") from None


def place(told: Mapping[str, str]) -> list[str]:
    """Where the address of a Redis of one's own means what it says: this network and these files; nothing without such a Redis."""
    if REDIS not in told:
        return []
    try:
        return [str(Path(f"/proc/self/ns/{name}").readlink()) for name in ("net", "mnt")]
    except OSError:
        return []  # no such things there: one machine has one network
