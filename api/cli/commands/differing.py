"""`engramlog diff`: what changed between two moments of an owner."""

from __future__ import annotations

from pathlib import Path

from api.choices import MOST_DIFF_QUERIES
from api.cli.made import Call, command
from api.cli.show.differing import differences
from api.operations.auditing import DIFF
from api.operations.definition import Option, Parameter
from events.errors import refused

MOST_BYTES = 1 << 20
"""Of a file of questions."""


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
        call.given["queries"] = [*call.given["queries"], *_questions(path)]
    call.print(call.answer(), differences)


def _questions(path: Path) -> list[str]:
    """The lines of a file that say something."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise refused("queries", str(path), f"a file that can be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise refused("queries", str(path), "a file in UTF-8, a question a line") from None
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if len(raw) > MOST_BYTES or len(found) > MOST_DIFF_QUERIES:
        raise refused("queries", str(path), f"a file of at most {MOST_DIFF_QUERIES} questions, one a line")
    return found
