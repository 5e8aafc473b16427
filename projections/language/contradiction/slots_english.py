"""Slots of an English clause, written in lower case with contractions in full. Values are "type value" or a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from projections.language import kin
from projections.language.contradiction.numbers import NUMBER_ENGLISH as NUMBER
from projections.language.contradiction.numbers import value_of
from projections.language.contradiction.places import place_at_start
from projections.language.patterns import regex
from projections.language.text import stem
from projections.language.times.names import MONTH, WEEKDAY, month_number

_UNSURE = regex(
    r"\?|\b(?:not|no|never|if|unless|maybe|might|may be|perhaps|probably|possibly|could|would|should|about|around|almost"
    r"|nearly|roughly|approximately|over|under|at least|at most|more than|less than|up to|until|used to|was|were|had|lived"
    r"|ago|last|when|said|says|told|think|thinks|guess|hope|wish|wants?|plans?|planning|will|going to|consider"
    r"|considering|thinking|feels? like|before|after|some days|sometimes|usually|often|during|weekends?|half|part)\b"
)
_SUBJECT = (
    r"(?<![a-z])(i|he|she|we|they|(?:my|our|his|her|their) (?:[a-z-]+ ){0,2}?[a-z-]+|(?:the )?user)"
    r" (?:now |already |currently |only |just |still |actually |really |both |all |presently |also )*"
)
_ADVERBS = r"(?:now |already |currently |only |just |still |exactly |actually |also )*"
_AGE = regex(
    rf"{_SUBJECT}(?:am|is|are|turned|turns) {_ADVERBS}({NUMBER})(?: years? old| years? of age|$| and | now$| today$)"
)
_OF_AGE = regex(rf"{_SUBJECT}(?:am|is) {_ADVERBS}an? ({NUMBER})[- ]years?[- ]old")
_BORN = regex(rf"{_SUBJECT}(?:am |is )?born in (\d{{4}})\b")
_HOME = regex(
    rf"{_SUBJECT}(?:lives?|(?:am|is|are) (?:living|based)|resides?|(?:have |has )?settled"
    r"|(?:have |has )?(?:just |recently )?(?:moved|relocated)(?: from [a-z ]{1,30}?)?(?= to)"
    rf") {_ADVERBS}(?:in|to) (?:the (?:city|town) of )?"
)
_ORIGIN = regex(
    rf"{_SUBJECT}(?:(?:come|comes|am|is) (?:originally )?from|(?:am |is )?(?:originally )?born (?:and raised )?in|grew up in) "
)
_OWN_COUNT = regex(
    rf"{_SUBJECT}(?:have|has|have got|has got|own|owns) {_ADVERBS}({NUMBER}) ((?:[a-z-]+ )?[a-z-]+)"
    r"(?=$| (?:and|who|that|which|in|at|now|named|called) )"
)
_THINGS_TEXT = """
cat dog pet hors bird rabbit hamster car bike bicycl motorcycl hous apart bedroom room turtl parrot fish chicken guitar
piano compani employe monitor phone laptop
"""


@cache
def _counted_stems() -> frozenset[str]:
    """Stems of what one has a certain number of at a time: relatives, animals, things."""
    return frozenset((*map(stem, kin.words_english()), *_THINGS_TEXT.split()))


_MEASURE = regex(
    rf"{_SUBJECT}(?:am|is|weighs?|measures?) {_ADVERBS}({NUMBER})"
    r" ?(cm|centimet(?:er|re)s?|m|met(?:er|re)s?|kg|kilos?|kilograms?|lbs?|pounds?|feet|inches)(?: tall| high|$)"
)
_UNITS = {"c": "cm", "k": "kg", "l": "lb", "p": "lb", "m": "m", "f": "ft", "i": "in"}
_OF_THING = regex(
    r"(?<![a-z])((?:my|our|his|her|their|the) (?:[a-z'-]+ ){0,2}?[a-z'-]+?)"
    r" (?:is|are|costs?|starts?|begins?|ends?|takes place|falls)"
    r" (?:now |scheduled |set |due |planned |always )*(?:(?:for|on|at|by|to|every) )?(?:the )?(?=[\d$€£]|[a-z])"
)
_MONTH_DAY = regex(
    rf"(?:({MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b|(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({MONTH})\b)"
)
_ISO_DAY = regex(r"\d{4}-(\d{2})-(\d{2})\b")
_WEEKDAY = regex(rf"({WEEKDAY})s?\b")
_CLOCK = regex(r"(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b|(\d{1,2}):(\d{2})\b")
_AMOUNT = regex(rf"([$€£])? ?({NUMBER})(?: ?(%|[a-z]+))?(?=$| (?:a|per|each) (?:month|year|week|day|hour)$)")


def slots_english(clause: str) -> Iterator[tuple[str, str, str]]:
    """Whose, of what, value; nothing where the clause asks, supposes, denies, estimates or tells of the past."""
    if len(clause) > 300:
        return
    clause = re.sub(r"\b(was|were) (?=born)|\bused to (?=it\b)", "", clause)
    if _UNSURE.search(clause):
        return
    for found in (*_AGE.finditer(clause), *_OF_AGE.finditer(clause)):
        if (value := value_of(found[2])) is not None and value <= 120:
            yield _whose(found[1]), "age", f"years {value:g}"
    for found in _BORN.finditer(clause):
        yield _whose(found[1]), "year of birth", f"year {found[2]}"
    for pattern, name in ((_HOME, "home"), (_ORIGIN, "origin")):
        for found in pattern.finditer(clause):
            if (place := place_at_start(clause[found.end() :])) is not None:
                yield _whose(found[1]), name, place[0]
    yield from _counted(clause)
    yield from _measured(clause)
    yield from _of_things(clause)


def _whose(subject: str) -> str:
    return "i" if subject in ("user", "the user") else subject


def _counted(clause: str) -> Iterator[tuple[str, str, str]]:
    for found in _OWN_COUNT.finditer(clause):
        noun = [stem(word) for word in found[3].split()]
        value = value_of(found[2])
        if noun[-1] in _counted_stems() and value is not None and value == int(value):
            yield _whose(found[1]), f"number of {' '.join(noun)}", f"count {value:g}"


def _measured(clause: str) -> Iterator[tuple[str, str, str]]:
    for found in _MEASURE.finditer(clause):
        unit = _UNITS[found[3][0]]
        if (value := value_of(found[2])) is not None:
            name = "weight" if unit in ("kg", "lb") else "height"
            yield _whose(found[1]), name, f"{unit} {value:g}"


def _of_things(clause: str) -> Iterator[tuple[str, str, str]]:
    """My birthday is on May 3, the meeting starts at 3 pm, our rent is 900 euros."""
    for found in _OF_THING.finditer(clause):
        if (value := _value(clause[found.end() : found.end() + 40])) is not None and not _counts_age(clause, found):
            yield found[1], value.partition(" ")[0], value


def _counts_age(clause: str, found: re.Match[str]) -> bool:
    return _AGE.match(clause, found.start()) is not None


def _value(text: str) -> str | None:
    if found := _ISO_DAY.match(text):
        return f"day {int(found[1])}-{int(found[2])}"
    if found := _MONTH_DAY.match(text):
        month = month_number(found[1] or found[4])
        return f"day {month}-{int(found[2] or found[3])}"
    if found := _WEEKDAY.match(text):
        return f"weekday {found[1]}"
    if found := _CLOCK.match(text):
        hour = int(found[1] or found[4]) % 24
        hour = hour % 12 + (12 if found[3] == "p" else 0) if found[3] else hour
        return f"time {hour}:{found[2] or found[5] or '00'}"
    if (found := _AMOUNT.match(text)) and (value := value_of(found[2])) is not None:
        unit = found[1] or (stem(found[3]) if found[3] else "number")
        return f"{unit} {value:g}"
    return None
