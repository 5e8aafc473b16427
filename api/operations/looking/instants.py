"""Weights and ranks of some memories at many instants, so that a hand on a time line moves without asking again."""

from __future__ import annotations

from api.operations.common import INCLUDE_FADED, MODE, PLACE
from api.operations.definition import Body, Operation, Option, Parameter, without
from api.operations.places import OF_PLACE, OWNER
from api.operations.searching import TERMS
from projections.choices import RANKINGS

_SPAN = (
    Parameter(
        "since",
        str | None,
        "Begin at this instant; at the owner's first event on that line if not given.",
        None,
        ("2026-01-01T00:00:00Z",),
        wire="from",
        option=Option(("--from",)),
    ),
    Parameter(
        "until",
        str | None,
        "End at this instant, past or future; now if not given.",
        None,
        ("2026-11-22T09:30:00Z",),
        wire="to",
        option=Option(("--to",)),
    ),
    Parameter("points", int, "Evenly spaced instants, 2 to 240; times rows at most 24,000.", 120, (120,)),
    Parameter(
        "line",
        str,
        "The time line that the instants are on: `happened`, each as `as_of` tells it; or `known`, each as `known` does.",
        "happened",
        ("happened", "known"),
    ),
)
INSTANTS = Operation(
    name="instants",
    help="What memories weigh, and where they stand among each other, at many instants: a question's results, or by id.",
    call="instants.instants",
    path=f"{OWNER}/instants",
    title="Instants",
    tag="owners",
    question=(
        Parameter(
            "query",
            str | None,
            "A question, whose best results are rows, and by whose scores all rows are ranked.",
            None,
            ("What does she drink?",),
        ),
        Parameter(
            "ids",
            list[str],
            "Memories that are rows, at most 200; with a query beside its results.",
            [],
            (["coffee", "tea"],),
            option=Option(("--id",), "A memory that is a row; as often as needed, at most 200."),
        ),
        Parameter("results", int, "How many results of the query, 1 to 100.", 20, (20,)),
        MODE,
        Parameter(
            "law",
            str | None,
            "Weigh by this law, whatever the owner chose; by the owner's own at each instant if not given.",
            None,
            ("ebbinghaus",),
            option=Option(completes="laws"),
        ),
        Parameter(
            "order",
            str,
            "By what rows are ranked without a query: `activated`, as `list` has them, or `weight`.",
            "activated",
            ("activated", "weight"),
        ),
        *_SPAN,
        Parameter(
            "ranking",
            str,
            "`conversation` or `text`: the other rankings go by more of time than a weight.",
            RANKINGS[0],
            RANKINGS[:2],
        ),
        *without(TERMS, "ranking", "near_project", "since", "until", "associations", "include_faded"),
        INCLUDE_FADED,
        *PLACE,
    ),
    answer="InstantsTold",
    told="Weights and ranks, an element an instant.",
    statuses=OF_PLACE,
    more="Weights, and what is shown and why not, are those of each instant; of a score the part of words and meaning is that of"
    " now, or of --known or --as-of. Leaves no trace.",
    folds=True,
)
INSTANTS_POSTED = INSTANTS.but(
    endpoint="instants_posted",
    title="Instants, asked in a body",
    body=Body(
        "InstantsWanted",
        "Rows and a span: for more ids than an address holds.",
        {
            "rows": {"summary": "Rows on a screen", "value": {"ids": ["coffee", "tea"], "points": 60}},
            "question": {"summary": "A question's results", "value": {"query": "What does she drink?"}},
        },
        required=True,
    ),
)
OPERATIONS = (INSTANTS, INSTANTS_POSTED)
