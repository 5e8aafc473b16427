"""Which rules are asked is a shortcut only: asking every rule of every text finds the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from projections.language.sensitivity import background as sensitivity_background
from projections.language.sensitivity.beside import AFTER, BEFORE, Piece, pieces, places
from projections.language.sensitivity.digits_said import in_digits
from projections.language.sensitivity.fold import folded, in_lower_case
from projections.language.sensitivity.reading import Cues, TextReading, key_of, long_runs
from projections.language.sensitivity.rule import Begun, Rule, listed
from projections.language.sensitivity.secrets import passwords as sensitivity_passwords
from projections.language.sensitivity.secrets import said as sensitivity_said
from projections.language.sensitivity.secrets import themselves as sensitivity_secrets
from projections.language.sensitivity.secrets import wallets as sensitivity_wallets
from projections.language.sensitivity.sign import LONG, Sign
from projections.language.sensitivity.spelling import corrected
from projections.language.sensitivity.text_level import RULES, detect_sensitivity, reasons
from projections.language.sensitivity.values import NUMBER_WORDS, TOKEN, may_be_strong, strength, strength_told
from tests.golden.test_sensitivity_figures import TEXTS
from tests.places import ROOT
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
BOUND_TO_THEIR_CUES = frozenset(
    [
        sensitivity_passwords.says_password,
        sensitivity_secrets.holds_named_key,
        sensitivity_said.holds_a_password,
        *(rule.matches for rule in RULES if rule.name == "pin-zh"),
        sensitivity_wallets.holds_wallet_words,
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
        return pieces(self.text, self.lower, cues, before, after)

    def places(self, cues: Cues) -> list[tuple[int, int]]:
        return places(self.lower, cues)


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


@pytest.mark.parametrize("text", KNOWN)
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
    "occupation": sensitivity_background._OCCUPATION,
    "education": sensitivity_background._EDUCATION,
    "token": sensitivity_secrets._TOKEN,
    "cloud key": sensitivity_secrets._CLOUD_KEY,
    "assigned key": sensitivity_secrets._ASSIGNED_KEY,
    "social security": sensitivity_secrets._SSN,
    "passport": sensitivity_secrets._PASSPORT,
    "after an address": sensitivity_said._AFTER_ADDRESS,
    "seed phrase": sensitivity_passwords._SEED_PHRASE,
}


@given(SPLICED | st.text(alphabet="my jobwrksgaduteinf!#*+1aA_-.@:|"))
def test_a_pattern_that_is_tried_where_it_can_begin_finds_what_it_finds_anywhere(text: str) -> None:
    for read in (folded(text), in_lower_case(folded(text))):
        for name, begun in BEGUN.items():
            plain = [match.span() for match in begun.pattern.finditer(read)]
            assert (name, [match.span() for match in begun.finditer(read)]) == (name, plain)


@given(SPLICED | st.text(alphabet="aZ9!#*?@+-_ .密", max_size=24))
def test_a_sign_within_is_found_by_the_kinds_of_characters(text: str) -> None:
    kinds = text.encode().translate(sensitivity_said._KINDS)
    assert bool(sensitivity_said._SIGN_WITHIN_KINDS.search(kinds)) == bool(sensitivity_said._SIGN_WITHIN.search(text))


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
    assert [key_of(cue) for cue in listed("get into, first pet, ni number, a/c, 开门, number")] == [
        "into",
        "pet",
        "ni",
        "c",
        "开门",
        "number",
    ]
    assert Cues(["get in", "get into"]).among(["get"]) == ["get in"]
