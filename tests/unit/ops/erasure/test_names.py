"""By which names others may have told of somebody."""

from __future__ import annotations

import pytest

from engramlog_server.events.errors import InputError
from engramlog_server.ops.erasure.residue import Names, given_names
from tests.rows import each_row


@each_row(
    ("names", "text", "found"),
    [
        (("Ada",), "I met ada yesterday", True),
        (("Ada",), "the adage holds", False),
        (("Ada Lovelace",), "Ada  Lovelace", False),
        (("O'Brien",), "said O'Brien.", True),
        (("王芳",), "昨天和王芳吃饭", True),
        (("王芳",), "昨天和王方吃饭", False),
        (("José",), "Jose\u0301 called", True),
        (("欧阳",), "欧阳青禾来了", True),
        (("Jose\u0301",), "José called", True),
        (("a.c",), "abc", False),
        (("Ada", "艾达"), "艾达来了", True),
    ],
)
def test_a_name_is_found_as_people_write_it(names: tuple[str, ...], text: str, found: bool) -> None:
    assert bool(Names(given_names(names)).found_in(text)) == found


@each_row("names", [("",), ("x",), ("  ",), ("n" * 101,), ("ab",) * 21])
def test_what_cannot_be_looked_for_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="name"):
        given_names(names)
