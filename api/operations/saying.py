"""One memory is told, told better, or come back to."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import DRY_RUN, EVENT_ID, SAID, limit
from engramlog_server.api.operations.definition import (
    MEMORIES,
    MEMORY,
    OWNER,
    Body,
    Operation,
    Option,
    Parameter,
    Record,
    flag,
    needed,
    text,
    told,
)
from engramlog_server.api.operations.writing import NOW, TURN_ID
from engramlog_server.projections.choices import CATEGORY, KIND

Plain = str | int | float | bool
GROUND = Record(
    "GroundTold",
    "A document on which a memory rests.",
    (
        needed("uri", "What it is.", "https://wiki.example.org/flats"),
        needed("digest", "Its digest then.", "sha256:9f86d081884c7d65"),
    ),
)
_GROUNDS = ([{"uri": "https://wiki.example.org/flats", "digest": "sha256:9f86d081884c7d65"}],)
_METADATA = ({"page": 4, "checked": True},)
TEXT = Option(
    names=("text",),
    argument=True,
    metavar="TEXT|-",
    reads="engramlog_server.api.cli.command:text_of",
    help="The text, or - to read it from standard input.",
)
SUMMARY = text("summary", "A shorter text.", "tea")
SESSION = text("session", "Session (conversation) id.", "s1")
KEYWORD = Option(names=("--keyword",), help="A keyword for searches; repeatable.")
TAG = Option(names=("--tag",), help="A tag of your own; repeatable.")
BECAUSE = Parameter("because", str, "Why it is kept.", "", ("asked for at breakfast",))

ADD = Operation(
    name="add",
    help="Add one memory. Kind and category are `fact` by default.",
    endpoint="remember",
    call="rememberer.add",
    needs=needs.SAYS,
    path=MEMORIES,
    title="Remember",
    question=(
        needed("content", "The text: one statement that is clear by itself.", "I drink tea", option=TEXT),
        text("memory_id", "Id of the memory. [default: generated]", "tea", option=Option(names=("--id",))),
        Parameter(
            "category",
            str,
            "identity, stable_preference, short_term_preference, fact, skill or temporary; decides how fast it fades.",
            CATEGORY,
            ("stable_preference",),
        ),
        Parameter("kind", str, "A word for what it is: preference, lesson, note ...", KIND, ("preference",)),
        text("source", "user, assistant, judge, system or import. [default: the actor]", "user"),
        Parameter("importance", float | None, "0 to 10. [default: by category]", None, (5,)),
        Parameter("confidence", float | None, "0 to 1. [default: 0.6]", None, (0.9,)),
        SUMMARY,
        text("speaker", "Who said it, by name.", "Lin"),
        Parameter("keywords", list[str], "Keywords for searches, at most 50.", [], (["tea"],), option=KEYWORD),
        Parameter("tags", list[str], "Tags of your own, at most 50.", [], (["morning"],), option=TAG),
        Parameter("emotion", float | None, "-1 to 1.", None, (0.5,), option=None),
        text("project", "The project that it belongs to.", "engram"),
        text("task", "The task that it belongs to.", "release"),
        Parameter(
            "sensitivity",
            int | None,
            "Least sensitivity, 0 to 3; rules may raise it.",
            None,
            (1,),
            bounds={"strict": True},
            option=None,
        ),
        Parameter(
            "source_turns",
            list[str],
            "Turns that say it, at most 100.",
            [],
            (["D4:7"],),
            option=Option(names=("--source-turn",), help="A turn that says it; repeatable."),
        ),
        text("corrects", "Id of the memory that it corrects: a link only.", "m1", option=None),
        flag("confirm", "Add it even if a person rejected it before. Only a person can say so."),
        BECAUSE,
        Parameter("grounds", [GROUND], "Documents on which it rests, at most 16.", [], _GROUNDS, option=None),
        Parameter(
            "metadata", dict[str, Plain] | None, "Named values, at most 32 and 4 KiB.", None, _METADATA, option=None
        ),
        SESSION,
        *SAID,
        EVENT_ID.but(option=None),
    ),
    body=told(
        "Remembering",
        "One memory. Omitted fields have their defaults.",
        tea=("By the user, now", {"content": "I drink tea"}),
    ),
    answer="Remembered",
    more="Rules read the text: a password or document number makes it a secret, which only `get --reveal` shows.\nUse"
    " `negate` if it is no longer true, `edit` for better words, and `import turns` for a conversation.",
    route_help="Add one memory. Kind and category are `fact` by default.\n\nIt can be found when this returns. Rules read the"
    " text: a password or document number makes it a secret, which only POST `.../reveal` shows. Negate it if it is"
    " no longer true; edit it for better words.",
    example='Example: `engramlog add alice "I drink tea every morning" --kind preference` or'
    " `fortune | engramlog add alice - --json`",
)
EDIT = Operation(
    name="edit",
    command="Give a memory better words under the same id, or set its sensitivity or tier.",
    help="Give a memory better words under the same id. Older versions stay readable; equal words write nothing.",
    call="rememberer.edit",
    needs=needs.CORRECTS,
    verb="edit",
    path=f"{MEMORY}/edit",
    question=(
        needed("content", "The whole new text.", "I drink green tea", option=TEXT),
        SUMMARY.but(examples=("green tea",)),
        Parameter("keywords", list[str] | None, "Replaces the earlier ones.", None, (["tea"],), option=KEYWORD),
        Parameter("tags", list[str] | None, "Replaces the earlier ones.", None, (["morning"],), option=TAG),
        BECAUSE.but(kind=str | None, default=None),
        Parameter("grounds", [GROUND, None], "Replaces the earlier ones.", None, _GROUNDS, option=None),
        Parameter("metadata", dict[str, Plain] | None, "Replaces the earlier values.", None, _METADATA, option=None),
        DRY_RUN,
        *SAID,
    ),
    body=told(
        "Editing",
        "The new version of a memory. Omitted fields stay.",
        more=("More exact", {"content": "I drink green tea"}),
    ),
    answer="Edited",
    more="Keywords, tags and reason replace earlier ones if they are given. Use `negate` if the memory became untrue.",
    example='Example: `engramlog edit alice coffee "I drink coffee at eight every morning"`',
)
MENTION = Operation(
    name="mention",
    command="Record that a memory was mentioned again; --confirm also undoes its negation.",
    help="Record that a memory was mentioned again, which strengthens it. A mention by the user undoes a negation.",
    call="writer.mention",
    needs=needs.SAYS,
    verb="mention",
    path=f"{MEMORY}/mention",
    question=(
        Parameter("similarity", float | None, "Similarity of the mention to the memory, 0 to 1.", None, (0.9,)),
        TURN_ID,
        SESSION,
        DRY_RUN,
        *SAID,
    ),
    body=Body("Mentioning", "The memory was mentioned again.", NOW),
    answer="Effects",
    example="Example: `engramlog mention alice coffee --turn-id D4:7`",
)
GROUND_REPORT = Operation(
    name="ground",
    help="Report the digest that a document has now. Normal mode withholds memories that rest on another digest.",
    endpoint="report",
    call="grounds.report",
    needs=needs.SAYS,
    path=f"{OWNER}/grounds",
    title="Report a digest",
    question=(
        needed("uri", "URI of the document: 1 to 2,000 visible characters.", "https://wiki.example.org/flats"),
        needed(
            "digest",
            "Its digest now: 8 to 128 letters, digits, _ or -, optionally after a name and a colon.",
            "sha256:9f86d081884c7d65",
        ),
        limit(1_000, "Most memories to change, 1 to 1000; `left` counts the rest."),
        *SAID,
    ),
    body=told(
        "Reporting",
        "A document has this digest now.",
        page=("A page was read again", {"uri": "https://wiki.example.org/flats", "digest": "sha256:9f86d081884c7d65"}),
    ),
    answer="Reported",
    more="Reporting it again changes nothing. If more memories rest on it than the limit, `left` counts them.",
)
