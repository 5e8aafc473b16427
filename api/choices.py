"""What every face shares before it loads a service: choices, defaults, sentences, how ids are shown, the program's version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final
from urllib.parse import quote, unquote

from engramlog_server.events.text import HIDDEN

BUDGET = 1_500
"""Tokens of a prompt's block."""
MOST_BUDGET = 100_000
PAUSE = 0.1
"""Seconds between two looks at a log in which others write all the time."""
RULES, MODEL = "rules", "model"
"""What reads turns."""
ASKED_FOR = ("deleted", "merged", "retired", "set_aside", "rejected", "proposed", "superseded", "negated")
"""Memories that are left out of an export unless asked for; an import leaves them out again."""
REJECTIONS = "rejections"
"""What was rejected itself, by digests and the secret that keys them: left out as well, and taken in by an import."""
SHAPE_NAMES = (
    "auto",
    "lines",
    "chatgpt",
    "claude",
    "openai",
    "sharegpt",
    "open-webui",
    "claude-memories",
    "claude-code",
    "codex",
)
"""Of exported chats."""
LEAVE: Final = "leave"
CUT: Final = "cut"
WAYS = (LEAVE, CUT)
"""What becomes of a turn over 64 KiB: it is left out and counted, or its beginning is kept."""
FORMATS = ("jsonl", "text")
"""Of an export; the last is of everything."""
LANGUAGES = ("en", "zh")
"""Of a page for people."""
MOST_CHAT_TURNS = 10_000
MOST_CHAT_BYTES = 16 * 1024 * 1024
"""Of one request of exported chats: reading one takes several times its size of memory."""
MOST_CHANGES = 1_000
"""Changes of a page of a history at the most."""
MOST_EVENTS = 1_000
"""Events of a page of the log at the most."""
MOST_BUCKETS = 500
"""Parts into which a time line is cut at the most."""
MOST_WAIT = 20
"""Seconds that a page may wait for what comes."""
TOOLSETS = ("agent", "audit")
"""Of an MCP server: the first where none is named."""
BY_HAND = ("sweep", "review")
"""Lifecycle jobs that run when none is named."""
OWNERS_PAGE, MOST_OWNERS = 100, 1_000
"""Owners of a page, and of the longest."""
MOST_NAME = 256
"""Characters of a beginning of an owner's name."""
MOST_QUESTIONS = 20
"""Questions whose ranks are compared on two sides."""
THEMES = ("light", "dark")
"""Of a picture."""
WIDTH, HEIGHT = 1_200, 700
"""Of a picture, in pixels, and between which bounds."""
WIDTHS, HEIGHTS = (320, 2_400), (240, 1_600)
MOST_KEY_DAYS = 36_525
"""After so many days a key ends at the latest, where it ends after days."""
MOST_PROCESSES = 64
"""Of one command."""


CURL = "curl -H @<(engramlog token --header)"
"""How to show the token: as a file, never on a command line, which every user of the machine reads (`ps`)."""
UNKNOWN = "owner {owner} has no events; `engramlog status --owners --search PART` finds owners by a part of the name"
"""Most often the name is spelled otherwise."""


def encoded_id(value: str) -> str:
    """An id as it can be shown and asked for again: what is hidden in it percent-encoded. No id holds a `%` of its own."""
    if value.isascii():
        return value
    return HIDDEN.sub(lambda found: quote(found[0]), value)


def decoded_id(value: str) -> str:
    """An id that may be percent-encoded, as it is: an old one may hold what no terminal and no model shows."""
    return unquote(value) if "%" in value else value


def program_version() -> str:
    """As it was installed, such as "0.2.0"; "0" where it runs from files that nobody installed."""
    try:
        return version("engramlog")
    except PackageNotFoundError:
        return "0"
