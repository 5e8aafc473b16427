"""Whether an English clause stands by itself: names what it is about, points at nothing outside, says something in particular."""

from __future__ import annotations

import re

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english_rules import PAST, TIMED
from engramlog_server.projections.language.extraction.shape import ExtractionRule
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTHS, WEEKDAYS

LEFT_OPEN = regex(
    r"\b(?:you|your|yours|you're|you've|he|she|him|it|its|it's|they|them|theirs|there|that's|here)\b", re.IGNORECASE
)
_POINTS = regex(
    "^(?:(?:it|that|this|these|those|them|one|some|both|all|so|what|how|when|where|seeing|hearing|the (?:idea|way|fact|feeling"
    "|same|sound|thought|vibe|look|energy|best|rest|other|one|pic|picture|photo)|such|your|a lot|lots|a bit|a ton|tons|more"
    "|something|anything|everything|nothing|things|stuff|another|to (?:be|hear|see|know|say|do|get|have|talk|chat)|being|back"
    r"|on|rid|here|there|away|off(?=\W*$| to\b(?!.*\d))|up|better|well|good|great|fun|enough|ready|used to|over it|the hang)\b"
    r"(?! of [A-Z])|[^A-Za-z0-9\"'`$£€])",
    re.IGNORECASE,
)
VAGUE = regex(
    r"\b(?:like I \w+|something|anything|everything|everyone|stuff|things?|whatever|this(?! (?:year|month|week|weekend"
    r"|summer|winter|spring|fall|autumn|season|morning|afternoon|evening)\b)|these|those|that one|the one|so"
    r" much|a (?:blast|great time)(?! (?:at|in|on|with|\w+ing)\b)"
    "|in touch"
    "|(?<=ed )one|(?<=ing )one|milestones?|got the idea|came across the formula|and wow|a lot of shots|some money|last one"
    "|new one|same one|like that|so many|one of my own|the main|surge|some(?:one|body|where)(?! named| called)"
    r"|what happened|accordingly|similar(?! [a-z]+s\b)|sore spot|(?<!of )experiences?(?=\W*$|,| (?:that|which|and|there"
    r"|for|so|but)\b)|milestone moment|stay calm|the whole"
    " team|a lot about)"
    r"\b|\b(?:the|a) (?:kind|place|feeling|connection|vibe)\b|\ban? (?:[\w-]+ )?approach$|^working on a project (?:with"
    r"|where|that)\b|\bthe (?:issues?|problems?|errors?|following|above|below|feature|task|case|situation|process|suggestions?"
    "|tips|advice|ideas?"
    r"|plan|steps?|chance|code|result|results)\b(?! (?:of|with|in|on|for|from|to) \w)"
    r"|(?<!say )\bthat (?!(?:is|are|was|were|the|my|has|have|can|will|includes?|\w+s|\w+ed)\b|(?-i:[A-Z$£€])|\d)",
    re.IGNORECASE,
)
_AT_HAND = regex(r"the (?!.* of )(?!(?:great )?outdoors)(?:[a-z'-]+ )+[a-z'-]+")
"""Something that both see: "I love the upside-down poses" praises them, which is no lasting liking."""
_CODE = regex(r"`|\b\w+\.(?:py|js|ts|html|css|json|ya?ml|toml|log|sql|env|txt|md|sh)\b|\w\(\w*[,)]")
"""A piece of code: what is done to it is work at hand."""
_NO_OBJECT = regex(
    "^(?:completed|finished|bought|made|built|got|won|took|received|launched|submitted|declined|reduced|set(?! up)"
    "|set up|tested|used|added|had"
    "|implemented|found|accepted|borrowed|gave|saw|hit|raised|earned|created|designed|fixed|lost|spent|scheduled|booked)"
    r" (?:by|on|at|in|for|with|as|to|up|out|back(?! from \w)|it|down|over|through|along|away|from|that|how|why)\b",
    re.IGNORECASE,
)
_ENDS_EARLY = regex(
    r"^\w+ (?:after|before|since|while|during|because|so|too|again|well|much|really|somehow)\b", re.IGNORECASE
)
"""A verb without what it is done to."""
_OPEN_END = regex(
    r"\s+(?:and|or|but|with|of|to|for|the|a|an|my|in|on|at|that|which|because|so|as|like|about|from|by|is|are|his|hers|mine|theirs|ours)$",
    re.IGNORECASE,
)
_DEED = regex(rf"(?:I|We) (?:\w+ ){{0,2}}?{PAST}|I(?:'ve| have) been \w+ing ")
"""A deed: four words about it are enough without a name or a time."""
_EMPTY_TEXT = """
a an the i my me to of in on at for with and or but so it its that this is are was were be been am do does did have has had
really very just also too much more lot lots bit some any good great nice amazing awesome new time way day thing things people
fun cool own other same all about up out by from as like love enjoy prefer want new first last got get went made took started
had used set added gave found saw hit change find make take give keep day days week weeks month months year years today
off down over back away through along together around news setback chat
tomorrow yesterday tonight morning afternoon evening night weekend next last ago after before soon later now starting leaving going
"""
_EMPTY_WORDS = frozenset((*_EMPTY_TEXT.split(), *MONTHS, *WEEKDAYS))
_NAMED = regex(
    lambda: (
        rf"\b(?!I\b)[A-Z]\w+|\b{kin.english()}\b|\b(?:friend|girl|boy|woman|man|boss|teacher|neighbou?r|colleague|lady|guy)\b"
    )
)


def says_something(said: str, thing: str, rule: ExtractionRule, *, timed: bool) -> bool:
    """Whether the clause stands by itself, `thing` being what its rule is about; `timed`: its time stands before it."""
    return is_whole(said, thing) and not _is_vague(thing, said, rule) and _tells(said, thing, rule, timed=timed)


def is_whole(said: str, thing: str) -> bool:
    if not 2 <= len(said.split()) <= 45 or _POINTS.match(thing) or _OPEN_END.search(said) or "```" in said:
        return False
    if LEFT_OPEN.search(said) or _somebody_else(said):
        return False
    return said.count("(") == said.count(")") and said.count('"') % 2 == 0 and said.count("`") % 2 == 0


def _is_vague(thing: str, said: str, rule: ExtractionRule) -> bool:
    at_hand = rule.predicate == "likes" and said.startswith("I") and _AT_HAND.fullmatch(thing) is not None
    ends_early = _NO_OBJECT.match(thing) is not None or (rule.sharp and _ENDS_EARLY.match(thing) is not None)
    return at_hand or ends_early or VAGUE.search(thing) is not None or _CODE.search(thing) is not None


def _tells(said: str, thing: str, rule: ExtractionRule, *, timed: bool) -> bool:
    """Whether it has words enough that mean something, or a name, a number or a time."""
    content = telling_words(thing)
    if rule.loose:
        return bool(content)
    timed = timed or TIMED.search(said) is not None
    named = any(word[0].isupper() or word[0].isdigit() for word in content)
    if timed:
        return len(content) >= 2 or (bool(content) and not thing.startswith(content[0]))
    if rule.sharp:
        of_mine = " my " in said or " our " in said
        return len(content) >= 3 if named else len(content) >= 4 - of_mine and _DEED.match(said) is not None
    return len(content) >= (2 if named else 3)


def telling_words(thing: str) -> list[str]:
    """The words and numbers that say something in particular."""
    found = re.findall(r"[A-Za-z][\w'+.-]*|\d[\w.,:%-]*", thing)
    return [word for word in found if word.casefold() not in _EMPTY_WORDS]


def _somebody_else(said: str) -> bool:
    """Whether "his" or "her" stands for nobody that the clause names; "their" may be anybody's."""
    found = re.search(r"\b(?:his|her|hers)\b", said, re.IGNORECASE)
    theirs = re.search(r"\btheirs?\b", said)
    if theirs is not None and not re.search(r"\bwho\b", said[: theirs.start()]):
        return True
    return found is not None and not _NAMED.search(said[1 : found.start()])
