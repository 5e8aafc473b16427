"""What would be without some of a history, and undoing it: the events that are struck are named in one way for both."""

from __future__ import annotations

from engramlog_server.api.operations import needs
from engramlog_server.api.operations.common import ACTOR, MODE, OFFSET, REASON, TIMES, limit
from engramlog_server.api.operations.definition import OWNER, Body, Operation, Option, Parameter, flag, text
from engramlog_server.api.work.patience import Work


def _struck(name: str, description: str, option: str, example: str) -> Parameter:
    return Parameter(name, list[str], description, list, ([example],), option=Option((f"--{option}",)))


STRIKES = (
    _struck(
        "without",
        "Leave out the events of these ids or positions; `history` shows both.",
        "without",
        "018f3c1e-7b2a-7000-8000-000000000001",
    ).but(examples=(["018f3c1e-7b2a-7000-8000-000000000001"], ["3:128"])),
    _struck("without_turns", "Leave out these turns, by their ids.", "without-turn", "D4:7"),
    _struck("without_sessions", "Leave out all that was said in these sessions.", "without-session", "s1"),
    _struck(
        "without_sources",
        "Leave out memories of these sources (user, assistant, judge, system or import), or that rest on these URIs.",
        "without-source",
        "import",
    ),
    _struck("without_actors", "Leave out all events of these actors.", "without-actor", "judge"),
    _struck(
        "without_principals",
        "Leave out all that these brought: `local`, a name in the settings, a job, a job with its model.",
        "without-principal",
        "agent-7",
    ),
    _struck(
        "without_correlations",
        "Leave out all events of these correlation ids.",
        "without-correlation",
        "018f3c1e-7b2a-7000-8000-000000000002",
    ),
    _struck("without_models", "Leave out all that these language models decided.", "without-model", "qwen3:8b"),
)
"""What is struck; the union of all that is named."""
ALONE = Parameter("alone", bool, "Leave out what is named alone, and not what was decided from it.", False, (False,))
QUERY = text("query", "Compare the order of this query's results too.", "coffee", option=None)
QUERIES = Parameter(
    "queries",
    list[str],
    "Compare the order of these queries' results too, 20 at the most.",
    list,
    (["coffee", "what does she drink?"],),
    option=Option(("--query",), "Compare the order of this query's results too; as often as needed, 20 at the most."),
)
MOST = Parameter(
    "most",
    int,
    "How many differences, struck events and memories that stay to tell, 1 to 1000 of each; the totals are told.",
    1000,
    (1000,),
)
REPLAY = Operation(
    name="replay",
    help="Fold an owner's events under other parameters, or without some of them, and show what differs. Writes nothing.",
    call="replayer.replay",
    needs=needs.REPLAYS._replace(of_past=True),
    work=Work.HEAVY,
    verb="replay",
    path=f"{OWNER}/replay",
    question=(
        Parameter(
            "parameters",
            dict[str, float | int | str | bool],
            "Parameters to force, by name.",
            dict,
            ({"user_factor": 1.3},),
            option=Option(
                ("--set",),
                "A parameter, name=value; as often as needed.",
                kind=list[str],
                reads="engramlog_server.api.parameters:parse_settings",
            ),
        ),
        text("profile", "Fold and read under this law, whatever the owner chose.", "tiered"),
        *STRIKES,
        ALONE,
        QUERY,
        QUERIES,
        MODE.but(default="review"),
        limit(10, "How many results of a query."),
        MOST,
        OFFSET,
        *TIMES,
    ),
    body=Body(
        "Replaying",
        "An owner's events folded anew, in memory.",
        {
            "faster": {
                "summary": "What if they forgot faster?",
                "value": {"parameters": {"user_factor": 1.3}, "query": "coffee"},
            },
            "assistant": {
                "summary": "What if the assistant had said nothing?",
                "value": {"without_actors": ["assistant"], "queries": ["coffee"]},
            },
        },
        required=True,
    ),
    answer="Replayed",
    more="What was decided from what is left out is left out too, to any depth, and listed; what stays all the same is said.",
    shown="generic:answer",
    example="Example: `engramlog replay alice --without-session s1 --query coffee`, `engramlog replay --all --set user_factor=1.3`",
    folds=True,
    task="replaying",
)
RETRACT = Operation(
    name="retract",
    help="Undo events, a turn, a session or all that somebody brought, with what was decided from it; first tells its reach.",
    call="retracter.retract",
    needs=needs.CORRECTS._replace(also=lambda _told: ("audit",)),
    work=Work.HEAVY,
    verb="retract",
    path=f"{OWNER}/retract",
    question=(
        *STRIKES,
        ALONE,
        flag("dry_run", "Tell what it reaches, and write nothing."),
        text(
            "reach",
            "What a dry run told it to reach, as a digest; where it is another by now, nothing is written (409).",
            "5d41402abc4b2a76b9719d911017c592",
        ),
        QUERY,
        QUERIES,
        MODE.but(description="In which mode the queries are compared: `normal`, `review` or `debug`."),
        limit(10, "How many results of a query."),
        MOST.but(
            description="How many events, memories and differences to tell, 1 to 1000 of each; the totals are told."
        ),
        OFFSET,
        ACTOR,
        REASON,
    ),
    body=Body(
        "Retracting",
        "What is to be undone: first with `dry_run`, then with the `reach` that told.",
        {
            "look": {
                "summary": "What would it reach?",
                "value": {"without_actors": ["assistant"], "dry_run": True, "queries": ["coffee"]},
            },
            "do": {
                "summary": "Do it",
                "value": {
                    "without_actors": ["assistant"],
                    "reach": "5d41402abc4b2a76b9719d911017c592",
                    "reason": "it made things up",
                },
            },
        },
        required=True,
    ),
    answer="Retracted",
    more="A session, a principal, an actor or a model is set aside; what was made is deleted, a merge is un-merged, and whatever"
    " else has an inverse is undone by it, as one act of a person's. What has none is told, and stays. The log keeps everything.",
    shown="generic:answer",
    example="Example: `engramlog retract alice --without-turn D4:7`, then again with the reach that it told: `--reach DIGEST`",
    folds=True,
    task="retracting",
)
