"""What is made of a history: laws beside each other, what would differ, a prompt's block, episodes, extraction, cleaning up."""

from __future__ import annotations

from typing import Literal

from engramlog_server.api.choices import (
    BUDGET,
    BY_HAND,
    HEIGHT,
    HEIGHTS,
    LANGUAGES,
    MODEL,
    RULES,
    THEMES,
    WIDTH,
    WIDTHS,
)
from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import OFFSET, PLACE, TIMES, TRACE, TRUST, limit
from engramlog_server.api.operations.definition import (
    MEMORY,
    OWNER,
    Body,
    Operation,
    Option,
    Parameter,
    flag,
    needed,
    text,
)
from engramlog_server.api.operations.knowing import MAP
from engramlog_server.api.work.patience import Work
from engramlog_server.projections.choices import WORKING_MESSAGES

COMPARE = Operation(
    name="compare",
    help="Read the same history under every law: what each would show, and how one memory fares over time. Writes nothing.",
    call="comparer.compare",
    needs=needs.REPLAYS,
    work=Work.HEAVY,
    verb="compare",
    path=f"{OWNER}/compare",
    title="Compare laws",
    question=(
        *TIMES,
        limit(20, "How many memories, 1 to 1000.").but(
            option=Option(("-k", "--limit"), "Number of memories, 1 to 1000. [default: 20]", None, int | None)
        ),
        OFFSET.but(option=None),
    ),
    answer="Compared",
    route_help="Every law's weights of the owner's memories, what each shows, and where they disagree most. Leaves no trace.",
    example="Example: `engramlog compare alice` or"
    " `engramlog compare alice coffee --since 2026-01-01T00:00:00Z --out coffee.svg`",
    folds=True,
)
CURVES = Operation(
    name="curves",
    call="comparer.curves",
    needs=needs.REPLAYS._replace(told="replay", of_past=True),
    work=Work.HEAVY,
    verb="curves",
    path=f"{MEMORY}/compare",
    title="Compare laws over time",
    question=(
        *PLACE,
        text(
            "since",
            "Begin at this instant; at its creation if not given.",
            "2026-01-01T00:00:00Z",
            option=Option(help="With an ID: begin at this instant, not at its creation."),
        ),
        text(
            "until",
            "End at this instant, past or future; now if not given.",
            "2026-11-22T09:30:00Z",
            option=Option(help="With an ID: end at this instant, past or future, not now."),
        ),
        Parameter(
            "points",
            int,
            "Evenly spaced instants, 2 to 2000.",
            200,
            (200,),
            option=Option(
                help="With an ID: number of evenly spaced instants, 2 to 2000. [default: 200]",
                default=None,
                kind=int | None,
            ),
        ),
    ),
    answer="Curves",
    help="One memory's weights under every law, each instant on the record as it was then, with what touched it. Leaves no trace.",
    folds=True,
)
CONTEXT = Operation(
    name="context",
    help="The block to put into a prompt: time, core, the conversation so far, memories that may matter, what tools found.",
    call="contexts.context",
    needs=needs.READ_CONTEXT,
    path=f"{OWNER}/context",
    question=(
        needed(
            "text",
            "The text of the turn that is to be answered.",
            "What should I drink tonight?",
            "今晚喝什么好？",
            option=Option(argument=True),
        ),
        text("session", "The session it stands in; that of the newest turn if not given.", "s1"),
        text(
            "turn_id", "The turn's id: what is injected is recorded for it, once.", "D4:7", option=Option(("--turn",))
        ),
        Parameter("budget", int, "Tokens the block may take, as estimated.", BUDGET, (800,)),
        Parameter(
            "related",
            Literal["auto", "always", "never"],
            "Search for related memories: if the message needs them (auto), always, or never.",
            "auto",
            ("auto",),
        ),
        Parameter("threshold", float, "The least closeness of a related memory, 0 to 1.", 0.0, (0.0,)),
        Parameter(
            "messages",
            int,
            "Messages of the conversation so far, 0 to 30: 0 where the agent has them anyway.",
            WORKING_MESSAGES,
            (30,),
        ),
        Parameter(
            "sensitive",
            bool | None,
            "Also illness, pay, addresses and phone numbers; secrets never. [default: if the caller may read them]",
            None,
            (True,),
        ),
        TRUST,
        text("language", "Of titles: `en` or `zh`; the turn's if not given.", "zh"),
        Parameter(
            "stable_budget",
            int | None,
            "Tokens of the budget that the stable part may take. [default: half; a quarter of a budget under 1,000]",
            None,
            (400,),
        ),
        *PLACE,
        TRACE.but(
            description="The block goes into a prompt: record its memories as injected, once for a turn.",
            default=False,
            option=Option(("--trace/--no-trace",)),
        ),
    ),
    body=Body(
        "ContextAsked",
        "A turn that is to be answered.",
        {
            "turn": {
                "value": {"text": "What should I drink tonight?", "session": "s1", "turn_id": "D4:7", "budget": 800}
            },
            "中文": {"value": {"text": "今晚喝什么好？", "messages": 0}},
        },
    ),
    answer="ContextBlock",
    route_help="The block to put into a prompt before a turn is answered. Records nothing unless `trace` is true.",
    more="The block alone goes to standard output; what was left out is said on standard error.",
    example='Example: `engramlog context alice "What should I drink tonight?" --session s1 --budget 800`',
    folds=True,
)
CLEANUP = Operation(
    name="cleanup",
    help="Do now what the lifecycle jobs do by themselves under `up`: record levels, delete what its law lets go, purge.",
    call="cleaner.clean",
    needs=needs.CLEANS,
    work=Work.HEAVY,
    verb="cleanup",
    path=f"{OWNER}/cleanup",
    title="Clean up",
    question=(
        flag("dry_run", "Tell what a run would do right now, and change nothing."),
        Parameter(
            "jobs",
            list[str],
            "sweep, review, merge, link, replay, levels, abstract or suggest; sweep and review if not given.",
            list(BY_HAND),
            (["sweep", "review"],),
            option=Option(
                ("--job",),
                "sweep, review, merge, link, replay, levels, abstract, suggest or embed; repeatable. Without: sweep and review.",
            ),
        ),
    ),
    body=Body(
        "Cleaning",
        "Which jobs, and whether only to tell.",
        {"preview": {"summary": "What would be done?", "value": {"dry_run": True}}},
    ),
    answer="Cleaned",
    route_help="Do now what the lifecycle jobs do by themselves: record levels, delete what its law lets go, purge.\n\n"
    "Deletions can be restored for 30 days. What is purged is gone from every projection; the log still holds its text.",
)
EPISODES = Operation(
    name="episodes",
    help="Make episodes of what was said: ten messages each, once they left working memory or their session ended.",
    call="episodes.make",
    needs=needs.MAKES,
    work=Work.HEAVY,
    verb="episodes",
    path=f"{OWNER}/episodes",
    title="Make episodes",
    question=(flag("dry_run", "Tell what would be made and noted, and change nothing; asks no model."),),
    body=Body(
        "Making", "Whether only to tell.", {"preview": {"summary": "What would be made?", "value": {"dry_run": True}}}
    ),
    answer="Left",
    statuses=(409, 503, 504, 507),
    route_help="Make episodes of what left working memory or of sessions that ended, and note which memories replies rested on.\n\n"
    "`up` does it by itself every ten minutes. Asked again it does nothing twice.",
)
EXTRACT = Operation(
    name="extract",
    help="Read the turns that nobody has read yet, and keep what their speakers state as typed memories, by rules or by a model.",
    apart=True,
    call="extractor.extract",
    needs=needs.MAKES,
    work=Work.HEAVY,
    path=f"{OWNER}/extract",
    question=(
        flag("dry_run", "Tell what every statement would become, and change nothing."),
        Parameter(
            "by", str, "`rules`, or `model`: the language model of `ENGRAMLOG_MODEL` is asked.", RULES, (RULES, MODEL)
        ),
    ),
    body=Body(
        "Extracting",
        "By what, and whether only to tell.",
        {"preview": {"summary": "What would be kept?", "value": {"dry_run": True}}},
    ),
    answer="Extracted",
    route_help="Keep what the speakers of unread turns state as typed memories on top of the turns. Sending it again does nothing"
    " twice.\n\nWhere turns are `left`, which a model may leave for want of time, send it again; a dry run by a model is about the"
    " next ten.",
)
EMBEDDING = Operation(
    name="embedding",
    call="embeddings.coverage",
    needs=needs.READ,
    path=f"{OWNER}/embedding",
    title="Vectors",
    statuses=(),
    answer="Embedding",
    help="How many of the memories that hold text have a vector under the configured model; a job computes the others.",
)


_PANEL = "Of a picture"


def _size(name: str, usual: int, bounds: tuple[int, int], narrow: int) -> Parameter:
    told = f"Pixels, {bounds[0]} to {bounds[1]}."
    return Parameter(name, int, told, usual, (narrow,), option=Option(panel=_PANEL))


LOOK = (
    Parameter("language", str, "Of its words: `en` or `zh`.", LANGUAGES[0], LANGUAGES, option=Option(panel=_PANEL)),
    Parameter("theme", str, "`light` or `dark`.", THEMES[0], THEMES, option=Option(panel=_PANEL)),
    _size("width", WIDTH, WIDTHS, 390),
    _size("height", HEIGHT, HEIGHTS, 500),
)
CURVES_SVG = CURVES.but(
    name="curves-svg",
    endpoint="curves_picture",
    path=f"{CURVES.path}.svg",
    title="Picture of the laws over time",
    question=(*CURVES.question, *LOOK),
    answer="",
    help="The same as `compare` tells of one memory, as a picture: curves, thresholds and what touched it. Leaves no trace.",
)
MAP_SVG = MAP.but(
    name="map-svg",
    endpoint="map_picture",
    path=f"{MAP.path}.svg",
    title="Picture of the map",
    question=(*MAP.question, *LOOK),
    answer="",
    help="The same as `map` tells, as a picture: memories by weight, their associations, and clusters by name. Leaves no trace.",
)
