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
)
from engramlog_server.api.operations.writing import NOW, TURN_ID
from engramlog_server.projections.choices import CATEGORY, KIND

Plain = str | int | float | bool
GROUND = Record(
    "GroundTold",
    "Something outside that a memory rests on.",
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
    reads="engramlog_server.api.cli.standard_input:text_of",
    help="The text, or - to read it from standard input.",
)
SUMMARY = text("summary", "What it says, shorter.", "tea")
SESSION = text("session", "Id of the conversation.", "s1")
KEYWORD = Option(names=("--keyword",), help="A word to find it by; as often as needed.")
TAG = Option(names=("--tag",), help="A tag of your own; as often as needed.")
BECAUSE = Parameter("because", str, "Why it is kept, in words.", "", ("asked for at breakfast",))

ADD = Operation(
    name="add",
    help="Remember one thing, as it is told: a memory of kind and category `fact` unless you say otherwise.",
    endpoint="remember",
    call="rememberer.add",
    needs=needs.SAYS,
    path=MEMORIES,
    title="Remember",
    question=(
        needed("content", "What to remember: one statement that stands by itself.", "I drink tea", option=TEXT),
        text("memory_id", "Its id; made up if not given.", "tea", option=Option(names=("--id",))),
        Parameter(
            "category",
            str,
            "identity, stable_preference, short_term_preference, fact, skill or temporary: how fast it fades.",
            CATEGORY,
            ("stable_preference",),
        ),
        Parameter("kind", str, "A word for what it is: preference, lesson, note ...", KIND, ("preference",)),
        text("source", "user, assistant, judge, system or import; who says so if not given.", "user"),
        Parameter("importance", float | None, "0 to 10; by its category if not given.", None, (5,)),
        Parameter("confidence", float | None, "0 to 1; 0.6 if not given.", None, (0.9,)),
        SUMMARY,
        text("speaker", "Who said it, by name.", "Lin"),
        Parameter("keywords", list[str], "Words to find it by, at most 50.", [], (["tea"],), option=KEYWORD),
        Parameter("tags", list[str], "Tags of your own, at most 50.", [], (["morning"],), option=TAG),
        Parameter("emotion", float | None, "-1 to 1.", None, (0.5,), option=None),
        text("project", "The project that it belongs to.", "engram"),
        text("task", "The task that it belongs to.", "release"),
        Parameter(
            "sensitivity",
            int | None,
            "At least so sensitive, 0 to 3; rules look at its words too.",
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
            option=Option(names=("--source-turn",), help="A turn that says it; as often as needed."),
        ),
        text("corrects", "The memory that it corrects: a link, which changes nothing on that.", "m1", option=None),
        flag("confirm", "It holds, although a person rejected it: from now on it does again. A person says so."),
        BECAUSE,
        Parameter("grounds", [GROUND], "What it rests on, at most 16.", [], _GROUNDS, option=None),
        Parameter(
            "metadata",
            dict[str, Plain] | None,
            "Plain values by name, at most 32 and 4 KiB.",
            None,
            _METADATA,
            option=None,
        ),
        SESSION,
        *SAID,
        EVENT_ID.but(option=None),
    ),
    body=Body(
        "Remembering",
        "One memory; what is not told has the defaults that it has at every face.",
        {"tea": {"summary": "By the user, now", "value": {"content": "I drink tea"}}},
    ),
    answer="Remembered",
    more="Its words are looked at: a password or a number of papers makes it a secret, whose text is shown by `get --reveal` alone."
    "\nWhere it is no longer so, `negate` it; to say it better, `edit` it; a conversation goes in by `import turns`.",
    route_help="Remember one thing, as it is told: a memory of kind and category `fact` unless you say otherwise.\n\n"
    "It can be found once this answers. Its words are looked at: a password or a number of papers makes it a secret, whose text"
    " POST `.../reveal` alone shows. Where it is no longer so, negate it; to say it better, edit it.",
    example='Example: `engramlog add alice "I drink tea every morning" --kind preference` or'
    " `fortune | engramlog add alice - --json`",
)
EDIT = Operation(
    name="edit",
    command="Say the same thing better under the same id; or say how sensitive it is, or that it stands in every prompt.",
    help="Say the same thing better: new words under the same id, the older ones stay readable. Saying the same writes nothing.",
    call="rememberer.edit",
    needs=needs.CORRECTS,
    path=f"{MEMORY}/edit",
    question=(
        needed("content", "The whole new text.", "I drink green tea", option=TEXT),
        SUMMARY.but(examples=("green tea",)),
        Parameter("keywords", list[str] | None, "In place of those before.", None, (["tea"],), option=KEYWORD),
        Parameter("tags", list[str] | None, "In place of those before.", None, (["morning"],), option=TAG),
        BECAUSE.but(kind=str | None, default=None),
        Parameter("grounds", [GROUND, None], "In place of those before.", None, _GROUNDS, option=None),
        Parameter("metadata", dict[str, Plain] | None, "In place of what was.", None, _METADATA, option=None),
        DRY_RUN,
        *SAID,
    ),
    body=Body(
        "Editing",
        "What a memory says from here on; what is not told stays.",
        {"more": {"summary": "More exact", "value": {"content": "I drink green tea"}}},
    ),
    answer="Edited",
    more="Keywords, tags and the reason replace those before where they are given, and stay where not. Where it became untrue,"
    " `negate` it.",
    example='Example: `engramlog edit alice coffee "I drink coffee at eight every morning"`',
)
MENTION = Operation(
    name="mention",
    command="Record that somebody came back to a memory; --confirm also takes back any negation of it.",
    help="Somebody came back to it: it is active from here on, and fades more slowly. Where the user did, a"
    " negation is undone.",
    call="writer.mention",
    needs=needs.SAYS,
    path=f"{MEMORY}/mention",
    question=(
        Parameter("similarity", float | None, "How alike what was said is to it, 0 to 1.", None, (0.9,)),
        TURN_ID,
        SESSION,
        DRY_RUN,
        *SAID,
    ),
    body=Body("Mentioning", "Somebody came back to it.", NOW),
    answer="Effects",
    example="Example: `engramlog mention alice coffee --turn-id D4:7`",
)
GROUND_REPORT = Operation(
    name="ground",
    help="Something has this digest now: memories that rest on another one are withheld from normal mode, those on this one come"
    " back.",
    endpoint="report",
    call="grounds.report",
    needs=needs.SAYS,
    path=f"{OWNER}/grounds",
    title="Report a digest",
    question=(
        needed(
            "uri", "What memories rest on: 1 to 2,000 characters that can be seen.", "https://wiki.example.org/flats"
        ),
        needed(
            "digest",
            "The digest it has now: 8 to 128 letters, digits, _ or -, perhaps after a name and a colon.",
            "sha256:9f86d081884c7d65",
        ),
        limit(1_000, "Memories at the most, 1 to 1000; `left` tells of more."),
        *SAID,
    ),
    body=Body(
        "Reporting",
        "Something has this digest now.",
        {
            "page": {
                "summary": "A page was read again",
                "value": {"uri": "https://wiki.example.org/flats", "digest": "sha256:9f86d081884c7d65"},
            }
        },
    ),
    answer="Reported",
    more="Reported again it changes nothing. Where more memories rest on it than the limit, the answer says how many are left.",
)
