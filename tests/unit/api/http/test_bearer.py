"""Who is known: whoever shows the token of this service, in one header and nowhere else."""

from __future__ import annotations

from starlette.datastructures import Headers

from engramlog_server.api.http.callers import is_known, nobody
from tests.rows import each_row

TOKEN = "the-token-of-these-tests-0123456789"


def known(*shown: str, name: str = "authorization") -> bool:
    raw = [(name.encode(), one.encode()) for one in shown]
    return is_known(Headers(raw=raw), lambda token: token == TOKEN)


@each_row("shown", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER   {TOKEN} "])
def test_whoever_shows_the_token_is_known(shown: str) -> None:
    assert known(shown)


@each_row(
    "shown",
    [
        [],
        [""],
        ["Bearer"],
        ["Bearer "],
        [TOKEN],
        [f"Basic {TOKEN}"],
        [f"Bearer {TOKEN}x"],
        [f"Bearer {TOKEN[:-1]}"],
        [f"Bearer {TOKEN} x"],
        [f"Bearer {TOKEN}", "Bearer x"],
        ["Bearer x", f"Bearer {TOKEN}"],
        [f"Bearer {TOKEN}", f"Bearer {TOKEN}"],
    ],
)
def test_whoever_shows_anything_else_or_two_headers_is_not(shown: list[str]) -> None:
    assert not known(*shown)


@each_row("name", ["x-authorization", "cookie", "proxy-authorization"])
def test_another_header_shows_nothing(name: str) -> None:
    assert not known(f"Bearer {TOKEN}", name=name)


def test_where_nothing_was_said_nobody_is_known() -> None:
    assert not is_known(Headers({"authorization": f"Bearer {TOKEN}"}), nobody)
