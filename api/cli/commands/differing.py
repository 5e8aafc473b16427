"""`engramlog diff`: what changed between two moments of an owner."""

from __future__ import annotations

from pathlib import Path

from api.cli.made import Call, command
from api.cli.show.differing import differences
from api.operations.auditing import DIFF
from api.operations.definition import Option, Parameter


@command(
    DIFF,
    more=(
        Parameter(
            "queries_file",
            Path | None,
            "Questions out of this file, one a line; beside those of --query.",
            None,
            option=Option(("--queries",), metavar="FILE"),
        ),
    ),
)
def diff(call: Call) -> None:
    """Questions out of a file too."""
    (path,) = call.take("queries_file")
    if path is not None:
        from api.services.auditing.questions import questions_in

        call.given["queries"] = [*call.given["queries"], *questions_in(path)]
    call.print(call.answer(), differences)
