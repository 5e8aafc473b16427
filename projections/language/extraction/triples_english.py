"""English clauses in the first person as triples, beyond those whose rule names a predicate: who, does or did what, to what.

Only the plain part is kept: the object ends where a reason, a time or another verb begins, and what is not a short phrase that
stands by itself gives no triple. How often or how much, and when, are kept next to it (seed 003, "LPMM").
"""

from __future__ import annotations

import re

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english_rules import pets
from engramlog_server.projections.language.extraction.shape import StatedTriple
from engramlog_server.projections.language.extraction.third_person import in_third, singular
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH_STARTS, WEEKDAY, WEEKDAYS

MOST_WORDS, MOST_WORDS_TO_DO = 9, 14
"""Of an object that is a thing, and of one that is something to be done."""
_LEAD = (
    r"^(?:[A-Z]\w+(?: \w+){0,2},? )?I(?:'ve| have)? "
    r"(?:also |recently |just |already |now |finally |once |first |even |successfully )*"
)
_AM = r"^I(?:'m| am) (?:also |currently |now |still |really )*"
_DOES = r"^I (?P<often>always |usually |often |sometimes |still |regularly |frequently |occasionally |rarely |never )?"
_DONE = (
    "visited|bought|adopted|joined|attended|finished|completed|read|watched|met|painted|won|passed|hosted|organi[sz]ed|launched"
    "|published|received|wrote|built|booked|scheduled|accepted|added|implemented|sold|donated|planted|injured|hired|designed"
    "|created|deployed|submitted|chose|picked|earned|climbed|directed|recorded|drafted|upgraded|celebrated|ordered|fixed|lost"
    "|baked|cooked|borrowed|learned|learnt|tested|defined|finalized|identified|declined"
)
_PLAIN: tuple[tuple[str, str], ...] = (
    (_LEAD + r"(?:went|been|travell?ed|flew|drove) to (?P<object>.+)$", "went to"),
    (_LEAD + r"signed up for (?P<object>.+)$", "signed up for"),
    (_LEAD + r"(?:applied) (?P<slot>to|for) (?P<object>.+)$", "applied"),
    (_LEAD + r"enrolled in (?P<object>.+)$", "enrolled in"),
    (_LEAD + r"graduated from (?P<object>.+)$", "graduated from"),
    (_LEAD + r"volunteered (?P<slot>at|for|with) (?P<object>.+)$", "volunteered"),
    (_LEAD + r"(?:decided|resolved) to (?P<todo>.+)$", "decided to"),
    (_LEAD + r"decided against (?P<object>.+)$", "decided against"),
    (_LEAD + r"(?:settled on|went with|opted for) (?P<object>.+)$", "chose"),
    (_LEAD + r"(?:started|began|taken up|took up) (?P<todo>(?:learning|playing|reading|writing|studying|taking|using"
     r"|practicing|training|teaching|painting|collecting) .+)$", "started"),
    (_LEAD + rf"(?P<verb>{_DONE}) (?P<object>.+)$", ""),
    (r"^I(?:'ve| have) (?:also |just )?never (?P<never>\w+) (?P<object>.+)$", ""),
    (r"^I used to (?P<todo>(?!be\b)\w+ .+)$", "used to"),
    (_AM + r"(?P<slot>reading|studying|learning|writing|building|developing|dating|watching|playing|designing|training for"
     r"|majoring in|working on|working towards) (?P<object>.+)$", "is"),
    (_AM + r"using (?P<object>.+)$", "uses"),
    (_AM + r"(?:planning|going|gonna|preparing|aiming|intending) to (?P<todo>.+)$", "plans to"),
    (r"^I (?:also )?(?:plan|intend|aim) to (?P<todo>.+)$", "plans to"),
    (_AM + r"trying to (?P<todo>.+)$", "is trying to"),
    (r"^I want to (?P<todo>.+)$", "wants to"),
    (r"^My (?:main |biggest |next |long-term |ultimate )?(?:goal|dream|aim) is to (?P<todo>.+)$", "aims to"),
    (r"^(?:I have|I've got|I own) (?P<object>(?:a|an) (?:\w+ ){0,3}(?:appointment|meeting|interview|exam|flight|session)\b.*)$",
     "has"),
    (_DOES + r"(?P<does>drive|own|use|wear|collect|drink|eat|teach|coach|study|run|mentor|attend|write|cook|play|watch|read"
     r"|visit|make|bake|grow) (?P<object>.+)$", ""),
    (_DOES + r"volunteer (?P<slot>at|for|with) (?P<object>.+)$", "volunteers"),
    (r"^I(?:'m| am) married to (?P<object>.+)$", "is married to"),
)  # fmt: skip
_RULES = tuple((regex(pattern, re.IGNORECASE), predicate) for pattern, predicate in _PLAIN)
_WORKS = regex(
    r"^(?:I (?:currently )?work|I(?:'m| am)(?: currently)? (?:working|employed)) (?P<slot>as|at|for) (?P<object>.+)$"
)
_OF_KIN = regex(
    lambda: (
        rf"^My (?P<who>(?:[a-z-]+ )?(?:{kin.english()}|{pets()}|best friend|boss|mentor))(?:,? (?P<name>[A-Z]\w+),?)? "
        r"(?P<verb>is called|is named|is from|is an?|lives? in|works? (?:as|at|for)|loves?|likes?) (?P<object>.+)$"
    )
)
_KIN_VERBS = {"is named": "is called", "is a": "is", "is an": "is"}
_STARTS = "|".join((MONTH_STARTS, *(name.removesuffix("day") for name in WEEKDAYS)))
_TIME = regex(
    r",? (?:\(?(?:yesterday|today|tonight|tomorrow|recently|lately|already|now|right now|at the moment|too|as well|though|again"
    r"|(?:just )?(?:last|this|next|the other|past|on the) \w+(?: \w+)?|(?:a|an|one|two|three|four|five|six|(?:a )?few"
    r"|a couple of|\d+) (?:hours?|days?|weeks?|weekends?|months?|years?) ago"
    r"|(?:on|by|in|since|from|until|before|around|starting) (?:early |late "
    rf"|mid-?)?(?:{_STARTS}|\d{{4}})\w*\.?(?: \d[\w,]*)*"
    r"(?: at \d[\w: ]*)?|for (?:about |over |almost )?(?:\d+|a|an|one|two|three|four|five|six|several|many) (?:\w+ )?"
    r"(?:days?|weeks?|months?|years?|hours?))\)?)$",
    re.IGNORECASE,
)
_ENDS = regex(
    r"(?:,| -| –|;|:)\s.*$|\s(?:because|since|but|so|which|who|whom|whose|where|while|although|though|due to|thanks to"
    r"|after|before|until|if|as (?:I|it|we|they|my|well)|(?:and|or) (?:also |then |even )?(?:\w+ed|met|built|wrote|won|bought"
    r"|read|made|got)|instead of|rather than|especially|including|such as|that|whenever|when|whether)\b.*$"
    r"|\s(?:to|and|or) (?:\w+ly )?(?:help|make|get|be|see|have|had|got|went|go|do|did|stay|keep|improve|learn|work|was|were"
    r"|am|is|are|it|I|they|we|he|she|improved|tested|chosen|chose|caught|celebrate|review|build|boost|spend|win|share|raise"
    r"|reduce|ensure|avoid|start|find|support|discuss|increase|include|link|relax|study|practice|prepare|show|meet|check"
    r"|pushed?|push|give|take|took|talk|watch|use|used|bring|let|try|tried|feel|felt|really|just|already|now|even|planned"
    r"|for|with|in|on|at)\b.*$",
    re.IGNORECASE,
)
_ENDS_TO_DO = regex(
    r"(?:,| -| –|;|:)\s.*$|\s(?:because|since|but|so|although|though|which|where|while|due to|if|whenever|when|whether"
    r"|instead of|rather than|that)\b.*$",
    re.IGNORECASE,
)
_POINTS = regex(
    r"^(?:it|that|this|these|those|them|they|there|here|one|some|both|all|so|what|how|when|where|who|more|most|much|many|any"
    r"|something|anything|everything|nothing|things?|stuff|a lot|lots|a bit|a few|few|another|someone|somebody|people|up|out|off"
    r"|on|in|at|to|by|back|down|over|through|along|about|for|with|from|as|like|well|together|home|around|away|not|only|just"
    r"|again|too|the (?:same|first|last|other|rest|whole|best|next|one|following|above|issues?|problems?|details?)|my own)\b"
    r"|\b(?:it|this|these|those|there|here|something|anything|stuff|you|your|yours|he|she|him|his|her|hers|myself|themselves)\b"
    r"|^\W*$",
    re.IGNORECASE,
)
_VAGUE_HEAD = regex(
    r"\b(?:bit|thing|things|one|ones|way|time|times|kind|lot|part|step|parts|steps|issue|problem|situation|details|everything|anything)$",
    re.IGNORECASE,
)
_OPEN = regex(
    r"(?:\s(?:and|or|of|to|for|the|a|an|my|in|on|at|with|by|from|about|into|via|using|through|their|is|are|was|were))+$",
    re.IGNORECASE,
)
_WHEN = regex(
    r",? (?P<when>(?:when|whenever|while|during|after|before|if)(?: [\w'-]+){1,4}"
    r"|in the (?:mornings?|evenings?|afternoons?|winter|summer|spring|autumn|fall)|at (?:night|home|work|lunch)"
    rf"|on (?:weekends|weekdays|(?:{WEEKDAY})s)"
    r"|every (?:single )?(?:day|morning|evening|night|week|weekend|month|year|\w+day|summer|winter)"
    r"|(?:once|twice|three times) a (?:day|week|month|year)|daily|weekly)$",
    re.IGNORECASE,
)
_THAT_ONE = regex(r"(?<=[a-z]) (?:I|we)(?:'ve|'m|'d)? [a-z]+\b.*$|(?<=[a-z]) \d+ (?:days?|weeks?|months?|years?)$")
"""Which one it is, in a clause of its own: "the shelter I volunteer at"."""
_ASIDE = regex(
    ",? (?:to be honest|right now|at the moment|these days|lately|sometimes|though|too|as well|so much|in general)$",
    re.IGNORECASE,
)
_HOW_MUCH: tuple[tuple[str, float], ...] = (
    (r"\b(?:always|every (?:single )?(?:day|morning|night)|daily|all the time)\b", 1.0),
    (r"\b(?:usually|normally|generally|most of the time)\b", 0.8),
    (r"\b(?:often|regularly|frequently)\b", 0.7),
    (r"\b(?:sometimes|now and then|from time to time|at times)\b", 0.4),
    (r"\b(?:occasionally|once in a while)\b", 0.3),
    (r"\b(?:rarely|seldom|hardly ever)\b", 0.1),
    (r"\b(?:absolutely|crazy about|obsessed|adore)\b|\bhuge fan\b", 1.0),
    (r"\b(?:love|hate|detest|loathe|can't stand|passionate)\b|\b(?:big|massive) fan\b", 0.9),
    (r"\breally\b|\bvery\b|\bso much\b", 0.8),
    (r"\b(?:kind of|kinda|sort of|a bit|a little)\b", 0.4),
)
_DEGREES = tuple((regex(pattern, re.IGNORECASE), degree) for pattern, degree in _HOW_MUCH)


def english_fact(said: str, name: str) -> StatedTriple | None:
    """The triple of a clause in the first person, opened at its subject; None where it is not plain."""
    if (found := _OF_KIN.match(said)) is not None:
        return _of_kin(found, name)
    for pattern, predicate in _RULES:
        found = pattern.match(said)
        if found is not None:
            return _fact(found, predicate, name)
    return None


def works_as(said: str) -> str | None:
    """`works as`, `works at` or `works for`, where the clause says so."""
    found = _WORKS.match(said)
    return None if found is None else f"works {found['slot']}"


def degree_of(said: str) -> float | None:
    """How often or how much, from 0 to 1; None where nothing is said of it."""
    return next((degree for pattern, degree in _DEGREES if pattern.search(said)), None)


def parted(thing: str) -> tuple[str, str | None]:
    """An object without the condition in which it holds, and that condition: "coffee in the morning"."""
    found = _WHEN.search(thing)
    if found is None or len(thing[: found.start()].strip()) < 3:
        return thing, None
    return thing[: found.start()].rstrip(" ,"), in_third(found["when"])


def tidied(thing: str) -> str:
    """An object without the asides around it: "also pizza", "bowling, to be honest"."""
    return _ASIDE.sub("", re.sub("^also ", "", thing))


def _of_kin(found: re.Match[str], name: str) -> StatedTriple | None:
    verb = re.sub(r"^(lives?|works?|loves?|likes?)\b", lambda one: one[1].rstrip("s") + "s", found["verb"])
    verb = {"loves": "likes"}.get(_KIN_VERBS.get(verb, verb), _KIN_VERBS.get(verb, verb))
    thing = _object(found["object"])
    who = f"{name}'s {found['who']}" + (f" {found['name']}" if found["name"] else "")
    return None if thing is None else StatedTriple(who, verb, thing, degree=degree_of(found["verb"]))


def _fact(found: re.Match[str], predicate: str, name: str) -> StatedTriple | None:
    groups = found.groupdict()
    habit = bool(groups.get("does"))
    whole = str(groups.get("todo") or groups["object"])
    if groups.get("todo"):
        thing, when = _to_do(whole), None
    else:
        whole, when = parted(whole) if habit or predicate in ("volunteers", "uses") else (whole, None)
        thing = _object(whole)
    if thing is None:
        return None
    often = (groups.get("often") or "").strip().casefold()
    verb = groups.get("verb") or groups.get("never") or ""
    if habit:
        verb = singular(str(groups["does"]).casefold())
    elif groups.get("slot"):
        verb = f"{predicate} {groups['slot']}"
    denied = often == "never" or bool(groups.get("never"))
    degree = degree_of(found.string) if habit and not denied else None
    return StatedTriple(name, (verb or predicate).casefold(), thing, denied, degree, when)


def _object(text: str) -> str | None:
    """What is left of an object once times, reasons and further verbs are cut off; None where that says nothing by itself."""
    thing = _shortened(text, _ENDS)
    if not thing or _POINTS.search(thing) or _VAGUE_HEAD.search(thing) or len(thing.split()) > MOST_WORDS:
        return None
    return None if thing.casefold() in ("my", "a", "the") or _unpaired(thing) else in_third(thing)


def _unpaired(thing: str) -> bool:
    """Whether it was cut in the middle of a quotation or a bracket."""
    return thing.count("(") != thing.count(")") or thing.count('"') % 2 == 1 or thing.count("`") % 2 == 1


def _to_do(text: str) -> str | None:
    thing = _shortened(text, _ENDS_TO_DO)
    words = thing.split()
    if not 2 <= len(words) <= MOST_WORDS_TO_DO or _POINTS.search(thing) or _unpaired(thing):
        return None
    if _VAGUE_HEAD.search(thing):
        return None
    return in_third(thing)


def _shortened(text: str, ends: re.Pattern[str]) -> str:
    thing = _THAT_ONE.sub("", ends.sub("", text.strip(" .,!")))
    for _ in range(3):
        thing = _OPEN.sub("", _TIME.sub("", thing)).strip(" .,!")
    return thing
