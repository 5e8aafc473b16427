"""What says again what is erased, without a link: by its statement, or by most of its words, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Sequence

from engramlog_server.events.catalogue import Ground
from engramlog_server.events.envelope import WORDS, AnyEvent, Stored, decode, digest, without_words, written
from engramlog_server.projections.language.statements import STATEMENT_RULES, statement
from engramlog_server.projections.reports.erasure import LEAST_SHARE, SaidAgain, Sayings, words_in
from tests.given.events import Told, created, secret_of, shown, stored
from tests.given.said import said
from tests.rows import each_row


def read(*told: Told, stated: Sequence[str] = ()) -> list[tuple[Stored, AnyEvent]]:
    """The entries of a log with their events; what they state stands beside those whose number has a text in `stated`."""
    events = []
    for number, one in enumerate(stored(told)):
        text = stated[number] if number < len(stated) else ""
        digests = written(STATEMENT_RULES, [digest(secret_of("ada"), statement(text))]) if text else b""
        events.append((one._replace(beside=(b"0", b"local", b"", digests, bytes(32))), decode(one.kind, one.body)))
    return events


def again(going: list[tuple[Stored, AnyEvent]], left: list[tuple[Stored, AnyEvent]]) -> list[SaidAgain]:
    return list(Sayings(going).found_in(left))


@each_row(
    ("erased", "says_it", "does_not"),
    [
        (
            "My locker code is 4711",
            ["the locker code, it is 4711 now", "My LOCKER: code 4711!", "note: my locker has code 4711, do not forget"],
            ["my bike code is 0815", "the locker is blue", "good morning"],
        ),
        (
            "我的储物柜密码是4711",
            ["储物柜的密码，是4711！", "我在公司的储物柜密码是4711", "密码是4711，储物柜的"],
            ["我的自行车密码是0815", "储物柜是蓝色的", "早上好"],
        ),
    ],
    ids=["English", "Chinese"],
)  # fmt: skip
def test_most_of_its_words_say_it_too_and_fewer_do_not(erased: str, says_it: list[str], does_not: list[str]) -> None:
    going = read(created(erased, "m"))
    for text in says_it:
        (told,) = again(going, read(created(text, "n")))
        assert (told.seq, told.type, told.of, told.how) == (1, "MemoryCreated", "n", "words")
        assert LEAST_SHARE <= told.share <= 1
    assert again(going, read(*(created(text, f"n{number}") for number, text in enumerate(does_not)))) == []


@each_row("text", ["I like tea", "我喜欢茶"])
def test_the_same_statement_is_known_by_its_digest_whatever_stands_around_it(text: str) -> None:
    going = read(created(text, "m"), stated=[text])
    left = read(
        created("...", "n"), said("t1", "?", session="s1"), created("...", "k"), stated=[text, text, "I have a dog"]
    )
    assert again(going, left) == [
        SaidAgain(1, "MemoryCreated", "n", "statement", 1.0, "..."),
        SaidAgain(2, "TurnRecorded", "s1/t1", "statement", 1.0, "?"),
    ]


def test_what_was_asked_is_told_and_cannot_be_named() -> None:
    going = read(created("my locker code is 4711", "m"))
    left = read(shown("n", query="my locker code is 4711"), shown("n", query="good morning"))
    assert [(one.seq, one.type, one.of, one.share) for one in again(going, left)] == [(1, "MemoriesAccessed", "", 1.0)]


def test_a_field_of_digests_that_cannot_be_read_tells_nothing() -> None:
    (one, event) = read(created("my locker code is 4711", "m"), stated=["x"])[0]
    damaged = one._replace(beside=(*one.beside[:3], b"\x01\x02", one.beside[4]))
    assert again([(damaged, event)], [(damaged, decode(one.kind, stored([created("a dog", "m")])[0].body))]) == []


def test_words_are_those_that_an_erasure_takes_wherever_they_stand() -> None:
    told = created(
        "tea",
        "m",
        summary="drinks",
        because="he said so",
        keywords=("tea", "cup"),
        metadata={"where": "kitchen", "cups": 2},
        grounds=(Ground(uri="https://example.org/tea", digest="0123456789abcdef"),),
    )
    ((_, event),) = read(told)
    assert {"tea", "drinks", "he said so", "cup", "kitchen", "https://example.org/tea"} <= set(words_in(event))
    assert "m" not in set(words_in(event))
    ((_, asked),) = read(shown("m", query="what is in the cup"))
    assert set(words_in(asked)) == {"what is in the cup"}
    assert not any(words_in(without_words(event)))
    assert event.type in WORDS
