"""Whether a statement that rules read in talk describes something that lasts. English and Chinese. Pure.

Most sentences of talk tell what was done, felt or wanted once. By its form a sentence lasts if its subject is the user, somebody
whom the user lives with or somebody named, and it says one of these:

- who or what somebody is, whom or which animal one has, an illness, a home, a work, a degree
- what somebody does in the present, except thinking, wanting and saying, and except with something that only the talk names
- a change that leaves a state behind: moved, married, left a job, gave up smoking

In Chinese what passes is told by its words of time and completion (`about_user`). What speaks to its reader lasts in neither.
"""

from __future__ import annotations

from typing import NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english_rules import DOCTORS, PEOPLE, pets, workers
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import holds_han
from engramlog_server.projections.language.sentences import without_day
from engramlog_server.projections.language.times.names import MONTH

_ADVERB = r"(?:(?:also|still|now|always|often|sometimes|never|not|only|(?!early|family)\w+ly) ){0,3}"
_NUMBER = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty(?:-\w+)?)"
_TRAIT = (
    r"(?:called|named|from|based in|married|divorced|single|engaged|widowed|retired|self-employed|vegan|vegetarian|muslim|jewish"
    r"|deaf|blind|dyslexic|autistic|bilingual|diabetic|coeliac|celiac|asthmatic|transgender|gay|left-handed|colou?r-?blind"
    r"|\w+ intolerant|(?:afraid|scared|terrified|part|one|allergic) (?:of|to)|allergic"
    r"|off (?!to|for|on|work|today|sick|school|now|the)|raising|dating|working (?:as|at|for)|teaching|living|studying (?!for))\b"
)
_MIND = (
    r"(?:think|believe|feel|want|need|hope|expect|look|keep|know|understand|agree|plan|intend|aim|ask|mean|say|see|find|wonder"
    r"|worrie|remember|reali[sz]e|consider|seem|hear|suggest|recommend|propose|argue|claim|envision|imagine|suppose|guesse|assume|misse"
    r"|notice|appreciate|apologi[sz]e|review|anticipate|trust|wishe|gotta|trie|struggle|require|request|insist|confirm|accept"
    r"|approve|await|continue|submit|conclude|decide|lean|face|swear|start|begin|sound|resonate)"
)
"""Verbs of the moment without their ending."""
_NO_HABIT = rf"(?:{_MIND}|doe|goe|get|take|make|give|come|bring|put|turn|i|ha|wa)"
"""The same, and verbs that say little by themselves."""
_OF_THE_TALK = r"(?:the|this|that|these|those) (?![^,]*[A-Z])"
"""Something that a conversation named before."""
_CHANGED = (
    r"(?:moved (?:to|in|out|from|house|away|back|here)|relocated|emigrated|immigrated|settled (?:in|down)"
    r"|(?:got )?(?:married|divorced|engaged)|separated|retired|graduated|converted to|qualified|quit|stopped \w+ing"
    r"|(?:gave|given) up|dropped [A-Z]|(?:switched|swapped) (?:\w+ )*?(?:to|from|for)"
    r"|changed (?:jobs?|their name|careers?|schools?)|left (?:their|school|university|[A-Z])"
    rf"|joined (?!.*(?:\d|\b(?:{MONTH})\b))|inherited|sold their|bec[ao]me|grew up|w(?:as|ere) born"
    r"|lost (?:their )?(?:job|home|hearing|sight|mother|father|husband|wife)|used to"
    r"|passed away|died|lived|worked (?:as|for|at)|studied (?:at|in|[a-z]+ (?:at|in))\b|spoke [A-Z]"
    r"|had (?:twins?|a (?:baby|son|daughter|twin|stroke|heart attack)|their [\w ]+ (?:out|removed|replaced)))"
)
_TO_HAVE = (
    r"asthma|diabetes|\w*allerg\w+|migraines?|epilepsy|arthritis|adhd|disease|syndrome|disorder"
    r"|degree|phd|master's|bachelor's|licen[cs]e|citizenship"
)
_ENGLISH = regex(
    lambda: (
        r"^(?:[A-Z][\w ]{2,25}, )?(?:"
        # the user
        rf"User {_ADVERB}(?:(?:is|are) {_ADVERB}(?:{_TRAIT}|[A-Z][\w'-]+(?=$|,| from)|{_NUMBER}(?: years? old)?(?=$|,| and)"
        rf"|\w+ sighted|the (?:\w+ ){{0,2}}{workers()}\b"
        r"|an? (?!bit\b|little\b|lot\b|few\b|couple\b|(?:\w+ )?fan$|week\b|day\b|month\b|step\b)\w)"
        r"|has been (?:an? |(?:in|with|at) .*\b(?:for|since)\b)"
        r"|(?:has (?:got )?|got |bought |adopted )(?!to\b|been\b|\w+ed\b)(?!.*\d{3})[^,]*?"
        rf"\b(?:{kin.english()}|{pets()}|{_TO_HAVE})\b"
        rf"|(?:has {_ADVERB})?{_CHANGED}"
        rf"|(?:does not|doesn't|cannot|can't) (?!{_NO_HABIT}\b)\w+ (?!{_OF_THE_TALK})"
        rf"|(?!{_NO_HABIT}s\b)[a-z]+s (?!{_OF_THE_TALK})\S)"
        # the user with others
        rf"|User and (?:others|their [\w' -]{{1,30}}?) (?:(?:live|work) (?:in|at|for)\b|speak|own|run"
        rf"|have (?:[\w-]+ ){{1,3}}(?:{kin.english()}|{pets()})\b|(?:have )?{_CHANGED})"
        # the user's people and animals
        rf"|User's (?:[\w-]+ ){{0,2}}?(?:{kin.english()}|{pets()}|partner|family|(?:{PEOPLE})(?= (?:is called )?[A-Z]))"
        rf"(?:'s family)?(?:,? [A-Z][\w'-]+)?,? {_ADVERB}"
        rf"(?:(?:is|are|was) {_ADVERB}(?:{_TRAIT}|{_NUMBER}\b|an? )|has (?!been\b|to\b|\w+ed\b)"
        rf"|(?:has )?{_CHANGED}|does(?:n't| not)? (?!{_NO_HABIT}\b)|(?!{_NO_HABIT}s\b)[a-z]+s \S)"
        # what belongs to the user
        r"|User's (?:\w+ ){0,2}?(?:name|birthday|anniversary|home|house|flat|apartment|address|hometown|job|company|employer"
        r"|pronouns|native language|mother tongue|blood type|car|bike) (?:is|are) "
        rf"|(?:The|User's) (?:{DOCTORS}) (?:put|diagnosed|prescribed) "
        # somebody named
        rf"|[A-Z][a-z]+ is (?:{_NUMBER}\b|an? (?:\w+ ){{0,2}}(?:{workers()}|{pets()})\b)"
        rf"|(?!User)[A-Z][a-z]+ (?:doesn't|does not) (?!{_NO_HABIT}\b)"
        rf"|(?!User)[A-Z][a-z]+'s \w+ (?!{_NO_HABIT}s\b)[a-z]+s \S"
        r")"
    )
)
_OF_THE_MOMENT = regex(rf"^User {_ADVERB}(?:{_MIND}s\b|(?:likes|enjoys|prefers) {_OF_THE_TALK})")
_SOMEBODY = regex("^用户的?(?:室友|舍友|同桌|邻居|朋友|同事|同学)(?![^，。]{0,4}叫)")
"""One of many, without a name."""
_TO_ITS_READER = regex(r"\b(?:you|your)\b|[你您]", 2)
_SURE = ("identity", "stable_preference", "skill")
"""Categories whose forms say that something lasts."""


class Drawn(NamedTuple):
    """What rules made of a statement that they read in talk."""

    category: str
    kind: str
    speaker: str | None = None
    """Who is named in it in place of *User*."""


def lasts(text: str, drawn: Drawn) -> bool:
    """Whether a statement in the third person ("User moved to Lyon") describes something that lasts."""
    said = without_day(text)
    if drawn.speaker is not None and said.startswith(drawn.speaker):
        said = ("用户" if holds_han(said) else "User") + said[len(drawn.speaker) :]
    if _TO_ITS_READER.search(said):
        return False
    if drawn.kind == "note" or drawn.category in _SURE:
        return drawn.category == "identity" or _OF_THE_MOMENT.match(said) is None
    return _SOMEBODY.match(said) is None if holds_han(said) else _ENGLISH.match(said) is not None
