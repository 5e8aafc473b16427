"""Which rules are asked is a shortcut only: asking every rule of every text finds the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramlog_server.projections.language.sensitivity import credentials, passwords, personal
from engramlog_server.projections.language.sensitivity.level import (
    RULES,
    corrected,
    detect_sensitivity,
    folded,
    in_digits,
    in_lower_case,
    reasons,
)
from engramlog_server.projections.language.sensitivity.personal import holds_iban
from engramlog_server.projections.language.sensitivity.rule import (
    AFTER,
    BEFORE,
    LONG,
    NUMBER_WORDS,
    TOKEN,
    Begun,
    Cues,
    Piece,
    Rule,
    Sign,
    TextReading,
    ends_of,
    joined,
    key_of,
    listed,
    long_runs,
    may_be_strong,
    pieces,
    strength,
    strength_told,
)
from tests.golden.test_sensitivity_figures import TEXTS
from tests.places import ROOT
from tests.rows import each_row
from tests.unit.projections.language.sensitivity.test_sensitivity_families import NEAR, TOLD

LISTS = [ROOT / "tests" / f"lists/{name}.jsonl" for name in ("told_by_strangers", "told_in_passing")]
KNOWN = (
    *TEXTS,
    *TOLD,
    *NEAR,
    *(str(orjson.loads(line)["text"]) for path in LISTS for line in path.read_bytes().splitlines()),
)
PIECES = sorted({piece for text in KNOWN for piece in text.split()} | {cue for rule in RULES for cue in rule.cues})
BETWEEN = st.sampled_from([" ", " ", " ", "\n", ": ", ", ", "", "-", " is ", "是", "\u200b", "  1 "])
SPLICED = st.lists(st.tuples(st.sampled_from(PIECES), BETWEEN), max_size=14).map(
    lambda parts: "".join(map("".join, parts))
)
TOLD_OF_NUMBERS = (
    *(
        "phone", "number", " is ", "my number", "whatsapp", "电话", "(", "555", "1234567", " ", "-", ".", "+", "12",
        "live at ",
    ),
    *(
        "Main ", "Old ", "N. ", "Street", "st", "Ave.", "12th ", ", ", "works for the ", "job as a ", "my job is ", "mill ",
    ),
    *("GB82", "WEST1234", "https://", "key_", "aB3dE5gH7jK9mN1pQ3rS5t", "12345-", "A1B2C-", "\n"),
)  # fmt: skip
BOUND_TO_THEIR_CUES = frozenset(
    [
        passwords.says_password,
        credentials.holds_named_key,
        credentials.holds_cloud_secret,
        passwords.holds_a_password,
        *(rule.matches for rule in RULES if rule.name == "pin-zh"),
        credentials.holds_wallet_words,
    ]
)
"""What these match counts only with one of the rule's cues or signs: it is part of the rule, and not what `matches` implies."""


class _Whole(TextReading):
    """A reading in which each cue is looked for, whether a rule is known by it or not."""

    def __init__(self, text: str) -> None:
        text = folded(text)
        lower = in_lower_case(text)
        while right := corrected(text, lower) or in_digits(text, lower, re.findall("[a-z]+", lower)):
            text, lower = right
        super().__init__(text, lower, ())

    def cues(self, cues: Cues) -> list[str]:
        return [cue for cue in cues if cue in self.lower]

    def pieces(self, cues: Cues, before: int = BEFORE, after: int = AFTER) -> Iterator[Piece]:
        return pieces(self.text, self.lower, self.places(cues), before, after)

    def ends(self, cues: Cues) -> dict[int, int]:
        return ends_of(self.lower, cues)


def _signs(read: TextReading) -> Sign:
    lower, found = read.lower, Sign(0)
    digits = re.findall(r"[0-9][0-9 ().-]*", lower)
    for sign, stands in (
        (Sign.DIGIT, digits),
        (Sign.FIVE_DIGITS, any(len(re.sub("[^0-9]", "", run)) >= 5 for run in digits)),
        (Sign.SEVEN_DIGITS, any(len(re.sub("[^0-9]", "", run)) >= 7 for run in digits)),
        (Sign.AT, "@" in lower),
        (
            Sign.LONG,
            digits and any(len(run.encode("utf-8", "replace")) >= LONG for run in re.split(r"[ \t\n\r\v\f]", lower)),
        ),
        (Sign.SPOKEN, NUMBER_WORDS.intersection(re.findall("[a-z]+", lower))),
        (Sign.WIDE, not lower.isascii()),
        (Sign.WIDE_DIGIT, digits and not lower.isascii()),
    ):
        found |= sign if stands else Sign(0)
    return found


def _opened(rule: Rule, read: TextReading, signs: Sign) -> bool:
    words = set(re.findall("[a-z]+", read.lower))
    cued = any(key in words if key.isascii() and key.isalpha() else key in read.lower for key in rule.cues.keys)
    return (cued or bool(rule.signs & signs)) and (not rule.needs or bool(rule.needs & signs))


def _names(rules: Iterable[Rule]) -> list[str]:
    return list(dict.fromkeys(rule.name for rule in rules))


def _found_by_every_rule(text: str) -> list[str]:
    """The reasons by asking all the rules, each of everything; those that are bound to their cues where these stand."""
    read = _Whole(text)
    signs = _signs(read)
    return _names(
        rule
        for rule in RULES
        if rule.matches(read) and (rule.matches not in BOUND_TO_THEIR_CUES or _opened(rule, read, signs))
    )


@each_row("text", KNOWN)
def test_of_a_known_text_no_rule_is_left_out_that_would_match(text: str) -> None:
    assert reasons(text) == _found_by_every_rule(text)


@given(SPLICED)
@example("13577889900 #0457\u200b-----BEGIN ")
@example("手机 13577889900 / Bridge_2")
def test_of_any_text_of_pieces_of_known_ones_no_rule_is_left_out_that_would_match(text: str) -> None:
    assert reasons(text) == _found_by_every_rule(text)
    levels = {rule.name: rule.level for rule in RULES}
    assert detect_sensitivity(text) == max((levels[name] for name in _found_by_every_rule(text)), default=0)


@given(st.text() | SPLICED)
def test_what_is_looked_up_for_all_rules_is_what_each_asks_for(text: str) -> None:
    read = _Whole(text)
    signs = _signs(read)
    full = [rule for rule in RULES if _opened(rule, read, signs) and rule.matches(read)]
    assert reasons(text) == _names(full)


BEGUN = {
    "education": personal._EDUCATION, "token": credentials._ISSUED_TOKEN,
    "cloud key": credentials._CLOUD_KEY, "assigned key": credentials._ASSIGNED_KEY,
    "private key": credentials._PRIVATE_KEY, "json web token": credentials._JWT,
    "addressed": credentials._ADDRESSED, "social security": personal._SSN,
    "passport": personal._PASSPORT, "after an address": credentials._AFTER_ADDRESS,
    "seed phrase": passwords._SEED_PHRASE,
}  # fmt: skip


@given(SPLICED | st.text(alphabet="my jobwrksgaduteinf!#*+1aA_-.@:|"))
def test_a_pattern_that_is_tried_where_it_can_begin_finds_what_it_finds_anywhere(text: str) -> None:
    for read in (folded(text), in_lower_case(folded(text))):
        for name, begun in BEGUN.items():
            plain = [match.span() for match in begun.pattern.finditer(read)]
            assert (name, [match.span() for match in begun.finditer(read)]) == (name, plain)
            assert (name, begun.search(read) is not None) == (name, bool(plain))


def test_a_pattern_that_begins_with_anything_is_refused() -> None:
    with pytest.raises(ValueError, match="must begin with characters"):
        Begun("[ab]c")


@given(SPLICED | st.text())
def test_a_text_is_skipped_only_where_none_of_its_tokens_has_strength(text: str) -> None:
    read = folded(text)
    strengths = [max(strength(token[0]), strength_told(token[0])) for token in TOKEN.finditer(read)]
    assert may_be_strong(read) or not any(strengths)


@given(st.text() | SPLICED)
def test_long_runs_are_those_that_white_space_leaves(text: str) -> None:
    read = folded(text).encode("utf-8", "replace").decode()
    assert list(long_runs(read)) == [run for run in re.split(r"[ \t\n\r\v\f]+", read) if len(run) >= LONG]


def test_a_cue_is_looked_up_by_a_word_of_its_own() -> None:
    cues = listed("get into, first pet, ni number, a/c, driver's license, 开门, number")
    assert [key_of(cue) for cue in cues] == ["get into", "first pet", "ni number", "c", "license", "开门", "number"]
    assert [key_of(cue, by_word=True) for cue in cues] == ["into", "pet", "ni", "c", "license", "开门", "number"]
    assert Cues(["get in", "get into"], by_word=True).among(["get"]) == ["get in"]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20))))
def test_windows_that_meet_are_read_as_one(begins: list[tuple[int, int]]) -> None:
    windows = sorted((start, start + length) for start, length in begins)
    read = [at for start, end in joined(windows) for at in range(start, end)]
    assert len(read) == len(set(read))
    assert set(read) == {at for start, end in windows for at in range(start, end)}


@given(SPLICED | st.lists(st.sampled_from(TOLD_OF_NUMBERS), max_size=12).map("".join))
@example("phone number is ((((((((((((555) 123 4567")
@example("0" + " 1234" * 4 + " A" + "b" * 20 + (" C" + "d" * 20) * 3 + " Boulevard")
@example("12345n, N. Aaaaaaaaaaaaaaaaaaaa Bbbbbbbbbbbbbbbbbbbb Cccccccccccccccccccc Dddddddddddddddddddd Boulevard")
def test_what_is_looked_for_near_what_it_needs_is_found_as_in_the_whole_text(text: str) -> None:
    plain, whole = folded(text), _Whole(text)
    phone = any(
        7 <= sum(map(str.isdigit, found["number"])) <= 15 for found in personal._CALLED_PHONE.finditer(whole.lower)
    )
    work = personal._OCCUPATION
    for name, found, expected in (
        ("phone", personal.holds_phone(whole) or not phone, True),
        ("street", personal.names_a_street(whole), bool(personal._STREET.search(whole.text))),
        (
            "work",
            personal.says_where_someone_works(whole),
            bool(work.search(whole.lower)),
        ),
        ("strong", any(strength(token[0]) for token in TOKEN.finditer(plain) if not may_be_strong(token[0])), False),
        ("iban", b"aa00" in whole.kinds or not holds_iban(whole.text), True),
    ):
        assert (name, found) == (name, expected)


def test_pieces_that_are_alike_are_read_once() -> None:
    """A text may repeat a word for a key thousands of times; a piece that differs is read wherever it stands."""
    repeated = "sk-" * 20_000
    read = [*pieces(repeated, repeated, [(at, at + 2) for at in range(0, len(repeated), 3)])]
    assert len(read) < 100
    assert len({*read}) == len(read)
    assert detect_sensitivity(repeated + "sk-9fQ2xV7bLm4TzR8cWp3NdK6y") == 3
