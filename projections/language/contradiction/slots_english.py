"""Slots of an English clause, written in lower case with contractions in full. Values are "type value" or a place."""

from __future__ import annotations

import re
from functools import cache

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.contradiction.values import NUMBER_ENGLISH as NUMBER
from engramlog_server.projections.language.contradiction.values import (
    Said,
    SlotLanguage,
    SlotRule,
    place_after,
    value_of,
)
from engramlog_server.projections.language.lexicon import words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.text import stem
from engramlog_server.projections.language.times.names import MONTH, WEEKDAY, month_number

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


@cache
def _counted_stems() -> frozenset[str]:
    """Stems of what one has a certain number of at a time: relatives, animals, things."""
    return frozenset(map(stem, (*kin.words_english(), *words("countables", "english"))))


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


def _age(found: re.Match[str], _clause: str) -> Said | None:
    value = value_of(found[2])
    return None if value is None or value > 120 else ("age", f"years {value:g}")


def _born(found: re.Match[str], _clause: str) -> Said:
    return "year of birth", f"year {found[2]}"


def _counted(found: re.Match[str], _clause: str) -> Said | None:
    noun = [stem(word) for word in found[3].split()]
    value = value_of(found[2])
    if noun[-1] not in _counted_stems() or value is None or value != int(value):
        return None
    return f"number of {' '.join(noun)}", f"count {value:g}"


def _measured(found: re.Match[str], _clause: str) -> Said | None:
    unit, value = _UNITS[found[3][0]], value_of(found[2])
    return None if value is None else ("weight" if unit in ("kg", "lb") else "height", f"{unit} {value:g}")


def _of_thing(found: re.Match[str], clause: str) -> Said | None:
    """My birthday is on May 3, the meeting starts at 3 pm, our rent is 900 euros."""
    value = _value(clause[found.end() : found.end() + 40])
    counts_age = value is not None and _AGE.match(clause, found.start()) is not None
    return None if value is None or counts_age else (value.partition(" ")[0], value)


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


ENGLISH = SlotLanguage(
    longest=300,
    unsure=_UNSURE,
    rules=(
        SlotRule(_AGE, _age),
        SlotRule(_OF_AGE, _age),
        SlotRule(_BORN, _born),
        SlotRule(_HOME, place_after("home")),
        SlotRule(_ORIGIN, place_after("origin")),
        SlotRule(_OWN_COUNT, _counted),
        SlotRule(_MEASURE, _measured),
        SlotRule(_OF_THING, _of_thing, of_thing=True),
    ),
    whose=lambda subject: "i" if subject in (None, "user", "the user") else str(subject),
    cleaned=lambda clause: re.sub(r"\b(was|were) (?=born)|\bused to (?=it\b)", "", clause),
)
