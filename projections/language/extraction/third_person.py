"""English said in the first person, as said about a person by name: "I love my dog" becomes "Ann loves their dog"."""

from __future__ import annotations

import re

from engramlog_server.projections.language.extraction.english_rules import PAST
from engramlog_server.projections.language.patterns import regex

_TO_THIRD = (
    (r"\b(?:I am|I'm)\b", "they are"), (r"\b(?:I've|I have)\b", "they have"), (r"\bI'll\b", "they will"),
    (r"\bI was\b", "they were"),
    (r"\bI\b", "they"), (r"\bmyself\b", "themselves"), (r"\bmine\b", "theirs"), (r"\bmy\b", "their"), (r"\bme\b(?!-)", "them"),
    (r"\bourselves\b", "themselves"), (r"\bours\b", "theirs"), (r"\bour\b", "their"), (r"\bwe're\b", "they are"),
    (r"\bwe've\b", "they have"),
    (r"\bwe\b", "they"), (r"\bus\b", "them"),
)  # fmt: skip
_REST = tuple((regex(pattern, re.IGNORECASE if pattern.startswith(r"\bm") else 0), into) for pattern, into in _TO_THIRD)
_HEADS = (
    (r"I already have\b", "already has"), (r"I still have\b", "still has"),
    (r"I'm not\b|I am not\b", "is not"), (r"I'm\b|I am\b", "is"), (r"I've\b|I have\b", "has"), (r"I'll\b", "will"),
    (r"I don't\b|I do not\b", "does not"),
    (r"I haven't\b", "has not"), (r"I can't\b|I cannot\b|I can not\b", "cannot"), (r"I was\b", "was"),
)  # fmt: skip
_HEAD = tuple((regex(pattern), into) for pattern, into in _HEADS)
_SEVERAL = ((regex(r"We're\b|We are\b"), " are"), (regex(r"We've\b|We have\b"), " have"), (regex(r"We\b"), ""))
_PRESENT = (
    "live reside work love like enjoy adore prefer hate dislike detest loathe speak know play plan intend aim drive own use wear"
    " collect drink eat teach coach study volunteer run mentor attend practice practise write cook go exercise wake get sleep jog"
    " swim meditate suffer come hail want train"
)
VERBS = frozenset(_PRESENT.split())
"""Verbs that are put into the third person."""
_FIRST_WORD = regex(
    r"^I (?P<adverb>(?:always|usually|often|sometimes|still|currently|normally|generally|no longer|never|also|(?!(?:fly"
    r"|apply|rely|supply|reply|multiply)\b)\w+ly) )?"
    r"(?P<verb>\w+)\b(?!-)"
)
_BASE = regex(
    rf"(?!{PAST}|\w+ed$|(?:am|can|cannot|could|will|would|may|might|must|should|shall|had|did|was|were|have|got|felt|thought|said|knew|told"
    r"|heard|understood|meant|forgot|began|also|just|really|never|already|once|even|first|only|still|now|then|always|often|sometimes|soon|almost|so|too|used|kept|dreamt|learnt|tried|(?!(?:fly|apply|rely|supply|reply)$)\w+ly)$)[a-z]+$"
)
"""A verb as one says it of now."""
_LEAD = regex(r"(.{1,40}?),? I ")
_AND_VERB = regex(r"^ and (\w+)\b")
_AND_OWN = regex(
    r"(?<=[\w,] )(and|but) (live|work|love|speak|own|teach|coach|run|write|cook|collect|swim|sing|hate|prefer|volunteer)(?= \w+ \w)"
)
_WITH_MINE = regex(r"^My ([^,]{1,40}?) and I\b")
_DOES_ONE_GOOD = regex(r"(?!I\b|My\b|We\b).{1,90}?\b(?P<me>me|my)\b")
_SOLO = regex(r"^I\b")
_NAME_S = regex(r"(?:(?<=^name)|(?<=^first name)|(?<=^full name))'s")


def third_person(said: str, name: str) -> str:
    """The clause about its speaker by name: "I love my dog" -> "Ann loves their dog"."""
    other = _of_another_subject(said, name)
    if other is not None:
        return other
    good = _DOES_ONE_GOOD.match(said)
    if good is not None and " I " not in good[0]:
        whose = name if good["me"] == "me" else f"{name}'s"
        return f"{said[:1].upper()}{in_third(said[1 : good.start('me')])}{whose}{in_third(said[good.end('me') :])}"
    lead = ""
    if not re.match(r"I\b", said):
        found = _LEAD.match(said)
        lead, said = (f"{found[1]}, ", said[found.end() - 2 :]) if found else ("", said)
    for pattern, into in _HEAD:
        found = pattern.match(said)
        if found:
            rest = said[found.end() :]
            if not re.match(r" \w+ing\b", rest):
                rest = _AND_OWN.sub(_singular_too, rest)
            return f"{lead}{name} {into}{in_third(rest)}"
    found = _FIRST_WORD.match(said)
    if found is not None and (found["verb"] in VERBS or _BASE.match(found["verb"])):
        tail = in_third(said[found.end() :])
        tail = tail if " to " in tail else _AND_OWN.sub(_singular_too, tail)
        second = _AND_VERB.match(tail)
        if second is not None and second[1] in VERBS:
            tail = f" and {singular(second[1])}{tail[second.end() :]}"
        return f"{lead}{name} {found['adverb'] or ''}{singular(found['verb'])}{tail}"
    return f"{lead}{name}{in_third(_SOLO.sub('', said))}"


def _singular_too(found: re.Match[str]) -> str:
    return f"{found[1]} {singular(found[2])}"


def _of_another_subject(said: str, name: str) -> str | None:
    """What is said with *my sister and I*, *we* or *my* as subject; None for *I*. The others of *we* stay unnamed."""
    both = _WITH_MINE.match(said)
    if both is not None:
        return f"{name} and their {in_third(both[1])}{in_third(said[both.end() :])}"
    for pattern, into in _SEVERAL:
        found = pattern.match(said)
        if found is not None:
            return f"{name} and others{into}{in_third(said[found.end() :])}"
    if said.startswith("My "):
        return f"{name}'s {in_third(_NAME_S.sub(' is', said[3:]))}"
    return f"{name} is called {said[8:]}" if said.startswith("Call me ") else None


def singular(verb: str) -> str:
    """The verb as said of one person: "live" becomes "lives"."""
    if verb.endswith(("s", "sh", "ch", "x", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


def in_third(text: str) -> str:
    """What follows the subject, about the same person: "my dog" becomes "their dog"."""
    for pattern, into in _REST:
        text = pattern.sub(into, text)
    return text
