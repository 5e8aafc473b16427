"""Memories as files: an export, and what imports of records and chats may be told. Each face reads and writes in its own way."""

from __future__ import annotations

from engramlog_server.api.choices import (
    ASKED_FOR,
    FORMATS,
    LEAVE,
    MOST_CHAT_BYTES,
    MOST_CHAT_TURNS,
    REJECTIONS,
    SHAPE_NAMES,
    WAYS,
)
from engramlog_server.api.operations import needs
from engramlog_server.api.operations.definition import (
    ACTOR,
    AFTER,
    LINES,
    NEVER,
    OWNER,
    PLACE,
    REASON,
    Operation,
    Option,
    Parameter,
    flag,
    text,
    told,
)
from engramlog_server.api.work import Work

_FORM = Parameter(
    "format",
    str,
    "`jsonl`, which an import reads again, or `text`, Markdown for people.",
    "jsonl",
    FORMATS,
    option=Option(help="jsonl, which `import records` reads again, or text, for people."),
)
_EVERYTHING = flag(
    "everything",
    "Everything about the owner: memories in any state, turns, tool results, prompts, questions, change log, chains.",
)
_INCLUDE = Parameter(
    "include",
    list[str],
    f"Also export these: {', '.join(ASKED_FOR)}; {REJECTIONS}: digests of rejected values with their secret, so that"
    " another store can refuse them (and guesses can be checked). Repeatable.",
    [],
    (["deleted"],),
)
_IDS = Parameter(
    "ids",
    list[str],
    "Only these memories, at most 1,000; missing ones are counted as `unknown`. Not with everything.",
    [],
    (["coffee", "tea"],),
    option=Option(("--id",), "Only this memory; repeatable, at most 1,000. Not with --everything."),
)
EXPORT = Operation(
    name="export",
    help="Export an owner's memories, oldest first, as lines to import again or as text. Omitted ones are counted by"
    " reason.",
    apart=True,
    call="records.export",
    needs=needs.EXPORT,
    work=Work.STREAM,
    path=f"{OWNER}/export",
    question=(
        _FORM,
        _INCLUDE,
        _EVERYTHING,
        _IDS,
        Parameter("reveal", NEVER, "Refused: only POST exports secrets, and records it.", False, (False,)),
        *PLACE,
    ),
    route_help="An owner's memories as lines to import again, as text, or everything as lines; without secrets. Leaves no trace.",
)
EXPORT_REVEALED = Operation(
    name="export",
    help="Export an owner's memories, oldest first, as lines to import again or as text. Omitted ones are counted by"
    " reason.",
    endpoint="export_revealed",
    apart=True,
    call="revealer.export",
    needs=needs.EXPORT_SECRETS,
    work=Work.STREAM,
    path=f"{OWNER}/export",
    title="Export with secrets",
    question=(
        _FORM,
        _INCLUDE,
        _EVERYTHING,
        _IDS,
        flag("reveal", "Also secret memories (sensitivity 3)."),
        *LINES,
        AFTER,
        ACTOR.but(description="The actor that asks: user, assistant or judge."),
        REASON.but(
            description="The reason.",
            examples=("they asked for their data",),
            option=Option(help="With --reveal: the reason, which is recorded."),
        ),
    ),
    body=told(
        "Exporting", "What to export, also secrets.", secrets=("With secrets", {"reveal": True, "reason": "asked for"})
    ),
    more="The file is written completely or not at all, with mode 0600. Purged texts are never exported.\nLeaves no trace,"
    " except that --reveal records the secrets first.",
    route_help="The same; with `reveal` also secrets, which are recorded first (`MemoriesRevealed`, `engramlog-revealed`).",
    example="Example: `engramlog export alice --out alice.jsonl` or `engramlog export alice --everything"
    " --out all.jsonl`",
)
OUT = (
    Parameter("file", str, "Output file. [default: standard output]", "-", option=Option(("--out",), metavar="FILE|-")),
    Parameter("force", bool, "Replace the file if there is one.", False),
)
"""Where the command writes an export."""
FILE = Parameter(
    "file", str, "A file of JSON Lines, or - for standard input.", option=Option(argument=True, metavar="FILE|-")
)
WHOSE = Parameter("owner", str, "Owner of the records.", option=Option(("--owner",)))
TURNS_ONLY = Parameter("turns_only", bool, "Record the turns without making memories of them.", False, (False,))
LONG_TURNS = Parameter(
    "long_turns",
    str,
    "A turn over 64 KiB: `leave` it out, counted, or `cut` it.",
    LEAVE,
    WAYS,
    option=Option(help=f"A turn over 64 KiB: {' or '.join(WAYS)}. Omitted turns are counted; cut turns end with …"),
)
IMPORT_RECORDS = Operation(
    name="import_records",
    endpoint="import_",
    apart=True,
    call="records.take_in_whole",
    needs=needs.IMPORT,
    work=Work.HEAVY,
    path=f"{OWNER}/import/records",
    question=(
        Parameter(
            "shape",
            str,
            "`engramlog` (what an export holds), `ebbinghaus`, `consolidating`, or `auto`: as each one's fields show.",
            "auto",
            ("auto", "engramlog", "ebbinghaus", "consolidating"),
            option=Option(
                help="engramlog (what `export` writes), ebbinghaus (id, content, createdAt ...), consolidating (id, content,"
                " created_at ...), or auto: as the fields of each line show."
            ),
        ),
        Parameter("assume_utc", bool, "Times without a zone are in UTC; else they are refused.", False, (False,)),
        Parameter(
            "core", bool, "Keep tiers core and system: you vouch for what they put into prompts.", False, route=False
        ),
    ),
    answer="RecordsImported",
    statuses=(409, 413, 504, 507),
    help="Import older records, one JSON object per line, as memories with their counters. A second import appends nothing.",
    more="A bad line stops the import; the lines before it are imported. Exit code 3: some records were omitted, because"
    " they changed\nsince an earlier import, or their id is used twice or by another memory. Records of tier core or"
    " system become ordinary\nmemories, and are counted, unless `--core` says that you vouch for them.",
    route_help="Up to 1,000 older records become memories with their counters: checked whole first, so that a bad one writes"
    " nothing.\n\nImporting again is safe: what is there is counted and changes nothing.",
    example="Example: `engramlog import records memories.jsonl --owner alice`",
)
IMPORT_CHATS = Operation(
    name="import_chats",
    apart=True,
    call="chats.take_in_whole",
    needs=needs.IMPORT_CHATS,
    work=Work.HEAVY,
    path=f"{OWNER}/chats",
    question=(
        Parameter("shape", str, f"{', '.join(SHAPE_NAMES)}; auto: as the beginning shows.", "auto", SHAPE_NAMES),
        text(
            "since",
            "When conversations without times began; each message is a minute after the last.",
            "2026-01-01T00:00:00Z",
            option=Option(
                help="When conversations without times began, RFC 3339 with a zone; each message is a minute after the last."
            ),
        ),
        TURNS_ONLY,
        LONG_TURNS,
        text("project", "The project of the memories made of turns.", "engram"),
        flag("live", "The turns were just said: trust them as said, not as imported."),
    ),
    answer="ChatsImported",
    statuses=(409, 413, 504, 507),
    help="Import exported chats: JSON Lines of turns, or conversations of ChatGPT, Claude, OpenAI messages and others.",
    more="A conversation is a session. System prompts, tools, hidden messages, abandoned branches, attachments and what cannot be"
    "\nread are left out, and counted. A second import appends nothing. A bad line of turns stops there.",
    route_help="Exported chats become turns: ChatGPT, Claude, OpenAI messages and others, or lines of turns. At most"
    f" {MOST_CHAT_TURNS:,} turns and {MOST_CHAT_BYTES >> 20} MiB, checked whole first, so that no export or a bad line writes"
    " nothing. A conversation is a session; system prompts, tools, hidden messages, abandoned branches, attachments and what"
    " cannot be read are left out, counted by reason, and the unreadable named. Importing again is safe: ids derive from what is"
    " sent.",
)
