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
from engramlog_server.api.operations.common import OFFSET, OWNERS, PLACE, TIMES, TRACE, TRUST, limit
from engramlog_server.api.operations.definition import (
    MEMORY,
    OWNER,
    Operation,
    Option,
    Parameter,
    flag,
    needed,
    text,
    told,
)
from engramlog_server.api.operations.knowing import MAP
from engramlog_server.api.work.patience import Work
from engramlog_server.projections.choices import WORKING_MESSAGES

COMPARE = Operation(
    name="compare",
    help="Compare the laws on the same history: what each shows, or one memory over time. Writes nothing.",
    call="comparer.compare",
    needs=needs.REPLAYS,
    work=Work.HEAVY,
    verb="compare",
    path=f"{OWNER}/compare",
    title="Compare laws",
    question=(
        *TIMES,
        limit(20, "Number of memories, 1 to 1000.").but(
            option=Option(("-k", "--limit"), "Number of memories, 1 to 1000. [default: 20]", None, int | None)
        ),
        OFFSET.but(option=None),
    ),
    answer="Compared",
    route_help="Weights of the owner's memories under every law, what each law shows, and where they differ most. Leaves no"
    " trace.",
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
            "First instant. [default: its creation]",
            "2026-01-01T00:00:00Z",
            option=Option(help="With an ID: first instant. [default: its creation]"),
        ),
        text(
            "until",
            "Last instant, past or future. [default: now]",
            "2026-11-22T09:30:00Z",
            option=Option(help="With an ID: last instant, past or future. [default: now]"),
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
    help="One memory's weights under every law at each instant, with the events that changed it. Leaves no trace.",
    folds=True,
)
CONTEXT = Operation(
    name="context",
    help="Print the block for a prompt: profile, conversation so far, related memories, tool results.",
    call="contexts.context",
    needs=needs.READ_CONTEXT,
    path=f"{OWNER}/context",
    question=(
        needed(
            "text",
            "Text of the message to answer.",
            "What should I drink tonight?",
            "今晚喝什么好？",
            option=Option(argument=True),
        ),
        text("session", "Its session. [default: that of the newest turn]", "s1"),
        text("turn_id", "Its turn id; the injection is recorded once for it.", "D4:7", option=Option(("--turn",))),
        text("project", "The project in which it is said: its memories are related as if it were named.", "engram"),
        Parameter("budget", int, "Most tokens of the block, estimated.", BUDGET, (800,)),
        Parameter(
            "related",
            Literal["auto", "always", "never"],
            "Search for related memories: if the message needs them (auto), always, or never.",
            "auto",
            ("auto",),
        ),
        Parameter("threshold", float, "Least closeness of a related memory, 0 to 1.", 0.0, (0.0,)),
        Parameter(
            "messages",
            int,
            "Messages of the conversation so far, 0 to 30; 0 if the agent has them.",
            WORKING_MESSAGES,
            (30,),
        ),
        Parameter(
            "sensitive",
            bool | None,
            "Include sensitive memories (illness, pay, addresses, phone numbers); never secrets. [default: if the caller"
            " may read them]",
            None,
            (True,),
        ),
        TRUST,
        text("language", "Language of titles: `en` or `zh`. [default: that of the message]", "zh"),
        Parameter(
            "stable_budget",
            int | None,
            "Most tokens of the stable part. [default: half; a quarter of a budget under 1,000]",
            None,
            (400,),
        ),
        OWNERS,
        *PLACE,
        TRACE.but(
            description="Record that this block was used in a prompt, once per turn.",
            default=False,
            option=Option(("--trace/--no-trace",)),
        ),
    ),
    body=told(
        "ContextAsked",
        "A message to answer.",
        turn={"text": "What should I drink tonight?", "session": "s1", "turn_id": "D4:7", "budget": 800},
        中文={"text": "今晚喝什么好？", "messages": 0},
    ),
    answer="ContextBlock",
    route_help="The block for a prompt. Records nothing unless `trace` is true.",
    more="Standard output has only the block; standard error says what did not fit.",
    example='Example: `engramlog context alice "What should I drink tonight?" --session s1 --budget 800`',
    folds=True,
    together="engramlog_server.api.services.sharing:block_together",
)
CLEANUP = Operation(
    name="cleanup",
    help="Run lifecycle jobs now: record levels, delete what the owner's law lets go, purge.",
    call="cleaner.clean",
    needs=needs.CLEANS,
    work=Work.HEAVY,
    verb="cleanup",
    path=f"{OWNER}/cleanup",
    title="Clean up",
    question=(
        flag("dry_run", "Show what a run would do. Write nothing."),
        Parameter(
            "jobs",
            list[str],
            "sweep, review, merge, link, replay, levels, abstract or suggest. [default: sweep and review]",
            list(BY_HAND),
            (["sweep", "review"],),
            option=Option(
                ("--job",),
                "sweep, review, merge, link, replay, levels, abstract, suggest or embed; repeatable. [default: sweep and"
                " review]",
            ),
        ),
    ),
    body=told("Cleaning", "Which jobs, and whether to write.", preview=("What would be done?", {"dry_run": True})),
    answer="Cleaned",
    route_help="Run lifecycle jobs now: record levels, delete what the owner's law lets go, purge.\n\nDeletions can be restored"
    " for 30 days. A purge removes a text from everything computed; the log still holds it.",
)
EPISODES = Operation(
    name="episodes",
    help="Make episodes of ten messages each, after they left working memory or their session ended.",
    call="episodes.make",
    needs=needs.MAKES,
    work=Work.HEAVY,
    verb="episodes",
    path=f"{OWNER}/episodes",
    title="Make episodes",
    question=(flag("dry_run", "Show what would be made. Write nothing; ask no model."),),
    body=told("Making", "Whether to write.", preview=("What would be made?", {"dry_run": True})),
    answer="Left",
    statuses=(409, 503, 504, 507),
    route_help="Make episodes of messages that left working memory or of sessions that ended, and record which memories replies"
    " rested on.\n\n`up` does it every ten minutes. Nothing is done twice.",
)
EXTRACT = Operation(
    name="extract",
    help="Extract typed memories from unread turns, by rules or by a model.",
    apart=True,
    call="extractor.extract",
    needs=needs.MAKES,
    work=Work.HEAVY,
    path=f"{OWNER}/extract",
    question=(
        flag("dry_run", "Show what each statement would become. Write nothing."),
        Parameter(
            "by", str, "`rules`, or `model`: the language model of `ENGRAMLOG_MODEL` is asked.", RULES, (RULES, MODEL)
        ),
    ),
    body=told(
        "Extracting", "By rules or a model, and whether to write.", preview=("What would be kept?", {"dry_run": True})
    ),
    answer="Extracted",
    route_help="Extract typed memories from unread turns. Nothing is done twice.\n\nIf turns are `left` because a model had no"
    " time, send it again. A dry run by a model covers the next ten turns.",
)

_PANEL = "Picture"


def _size(name: str, usual: int, bounds: tuple[int, int], narrow: int) -> Parameter:
    told = f"Pixels, {bounds[0]} to {bounds[1]}."
    return Parameter(name, int, told, usual, (narrow,), option=Option(panel=_PANEL))


LOOK = (
    Parameter(
        "language", str, "Language of its labels: `en` or `zh`.", LANGUAGES[0], LANGUAGES, option=Option(panel=_PANEL)
    ),
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
    help="The comparison of one memory as a picture: curves, thresholds and events. Leaves no trace.",
)
MAP_SVG = MAP.but(
    name="map-svg",
    endpoint="map_picture",
    path=f"{MAP.path}.svg",
    title="Picture of the map",
    question=(*MAP.question, *LOOK),
    answer="",
    help="The map as a picture: memories by weight, associations, and named clusters. Leaves no trace.",
)
