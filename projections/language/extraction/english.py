"""What English clauses in the first person state, and the same about a named person. Rules and word lists, no model."""

from __future__ import annotations

import re

from engramlog_server.projections.language.extraction.english_clauses import ASKS
from engramlog_server.projections.language.extraction.english_rules import (
    ADVERB,
    AT_IT,
    COMPILED,
    DOCTORS,
    DOES,
    LEADING_TIME,
    PAST,
    TIMED,
    turned,
    with_subject,
)
from engramlog_server.projections.language.extraction.english_standing import VAGUE, says_something
from engramlog_server.projections.language.extraction.fleeting import (
    limited_to,
    of_a_program,
    of_a_task,
    of_another_time,
    set_in,
)
from engramlog_server.projections.language.extraction.shape import (
    Clause,
    ExtractedStatement,
    ExtractionRule,
    StatedTriple,
    TurnText,
)
from engramlog_server.projections.language.extraction.third_person import VERBS, in_third, third_person
from engramlog_server.projections.language.extraction.triples_english import (
    degree_of,
    english_fact,
    parted,
    tidied,
    works_as,
)
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.polarity import speaks_from_its_day

MOST_LETTERS = 400
"""A longer clause is no talk."""
UNSURE = regex(
    r"\b(?:would|could|might|may(?! \d)|maybe|perhaps|probably|possibly|wish|guess|suppose|imagine|i bet|should"
    "|hope|hoping|seems?"
    r"|in (?:the|this|that|your) (?:\w+ )?(?:picture|photo|pic|image|drawing|diagram|painting|video|scene|story|example"
    r"|sample|dataset)"
    r"|(?:is|was) (?:the|an?|my|his|her|their) (?:\w+ )?(?:title|name|caption|headline|quote|motto|slogan|lyrics?|first line"
    r"|opening line)"
    r"|supposedly|apparently|pretend\w*|dreamed|dreamt|not sure|almost|nearly|joking|kidding|imagin\w*|daydream\w*|dreaming"
    r"|fantasi[sz]\w+|lying about|lied|wonder\w*|i'd)\b",
    re.IGNORECASE,
)
_IN_MAY = regex(
    r"\bmay (?=\d)|(?<=\d )may\b|(?<=(?:st|nd|rd|th|of|in|on|by) )may\b|(?-i:(?<=[a-z,] )May\b)", re.IGNORECASE
)
"""The month."""


def unsure(said: str) -> bool:
    """Whether a clause says that something may be so."""
    return UNSURE.search(_IN_MAY.sub("", said)) is not None


_CORRECTS = regex(
    r"(?:(?:no|well|oh|sorry),? )*(?:actually|correction|scratch that|i meant?|to correct myself|in fact)\b"
)
_FILLERS = regex(
    "^(?:(?:yeah|yep|yes|yup|no|nope|well|oh|so|and|but|(?:hey|hi|hello)(?: there| all)?|wow|fyi|incidentally|just so you know"
    "|for the record|for context|for what it's worth|in case it (?:helps|matters)"
    "|I (?:should|must|forgot to) (?:say|mention|add)(?: that)?|hmm|ah|aw|haha|also|plus|btw|by the way"
    "|anyway|ok|okay|sure|actually|honestly|personally|you know|to be honest|in fact|as for me|i mean|for me|same here|thanks"
    "|thank you|lately|recently"
    "|now|then|and now|oh yeah|right now|currently|sadly|luckily|fortunately|unfortunately|speaking of which|guess what"
    "|remember that|please remember(?: that)?|(?:please )?note that|keep in mind(?: that)?|don't forget"
    r"(?: that)?)\b[,!.:]*\s*)+",
    re.IGNORECASE,
)
_FACTIVE = regex(
    rf"^(?:(?:(?:the|my|our) )?(?:{DOCTORS}) (?:just )?(?:says|said|told me|thinks|confirmed|found(?: out)?)(?: that)? "
    r"|(?:especially |particularly )?(?:given|considering|now)(?: that)? |I(?:'m| am|'ve been| was) (?:just |so |really"
    r" |very |super |kinda |pretty |a bit "
    r"|kind of )*(?:glad|happy|proud|sad|upset|frustrated|thrilled|relieved|grateful|sorry|annoyed|disappointed|pleased"
    r"|embarrassed|lucky"
    r"|surprised|stressed|bummed|excited)(?: that)? |I (?:just |also |then )?(?:remembered|realized|realised|remember"
    r"|noticed|came across the fact) that |(?:I )?(?:just )?wanted to (?:let you know|tell you|share)(?: that)? "
    r"|I'm (?:so |really |super )?(?:excited|happy|glad|thrilled|proud|pleased) to (?:tell you|share|say|announce)(?:"
    r" that)? )(?=(?:I|I've|I'm|my|we|we've)\b|one of (?:my|our|the) \w+, [A-Z])",
    re.IGNORECASE,
)
"""What a doctor says, what is felt of a fact, or taken for granted: "I'm proud that I ran ...", "given that I've moved ..."."""
_SUBORDINATE = regex(
    rf"^(?:(?:especially |even |ever )?(?:because|since|though|although|as|whereas|now) "
    rf"|(?:(?:like )?(?:the time )?when|(?:especially )?after) (?=I {ADVERB}{PAST}))(?=(?:I|I've|I'm|my|we|we've)\b)",
    re.IGNORECASE,
)
"""What is taken for granted in a clause that hangs on another, where that one asks nothing: "since I moved to Graz"."""
_ONLY_SUPPOSED = regex(rf"{ASKS.pattern}|^(?:I|we|my \w+)(?:'d| would| might| could)\b", re.IGNORECASE)
"""What it may hang on and be no fact: "After I moved to Graz, I'd be happy"."""
_MEANT = regex(r"^(?:I mean|I meant|to correct myself|correction:?|scratch that)[,:]? (?=I\b|my\b)", re.IGNORECASE)
_ADDRESSED = regex(r"^(?:[A-Z]\w+[,!] )(?=(?:I|my|My|We|we)\b)")
_ADDED = regex(
    r"(?<=[a-z]),? (?:too|as well|though|btw|by the way|ever|for sure|indeed|lol|haha|tbh|you know"
    r"|right now|at the moment|these days|(?:just )?so you know|fyi|for what it's worth|incidentally)$"
)
_DENIES = regex(
    r"\b(?:not|never|no longer|don't|hate|dislike|can't stand|cannot stand|detest|loathe|stopped|quit|given up|gave up)\b"
)
_HERE = regex(r"^(?!Up|In|Down|Back|Right|Over|Still|New|Come|Born)(?P<name>[A-Z][a-zà-ÿ]+) here$")
"""A name at the beginning of a turn: "Oskar here, I repair accordions"."""
_INTRODUCES = regex(
    r"(?:(?i:hi|hey|hello|so|well|morning|good \w+),? )*"
    r"(?:[A-Z][\w'-]+ here|(?i:I'm|I am|my name is|my name's) [A-Z][\w'-]+)"
)
"""The clause in which somebody gives their name: what they say next of what they do is their trade."""
_MILD = regex(
    "^((?:I|We)(?:'m|'re|'ve|'ll| am| are| have| was)?)((?: (?:really|also|just|super|totally|absolutely|definitely|actually"
    "|honestly|truly|kinda"
    "|kind of|sort of|so|even|only|simply|very|personally|especially|finally|then|now|mostly|mainly|much|quite|pretty|too))+) "
)
_BEHIND = regex(
    r",? (?:that|which|who|whom|where|when|while|because|since|so|and|but|though|although|before|after|looking|hoping|trying|making"
    r"|giving|feeling|being|having|leaving|helping|showing|beating|thinking|knowing|seeing|to (?:find|see|get|help|make"
    r"|learn|feel|be|know|show|give|keep|do|have))\b|,? -{1,2} |, ",
)
"""Where a deed ends and a reason, an aside or another clause begins."""
_SAYS_WHAT = regex(
    r"\b(?:and|but|or|then) \w+$|\b(?:found|noticed|realised|realized|said|heard|told \w+|agreed|decided|got the chance)$"
)
"""A cut that parts a verb from what it is about."""
_NAMES = regex(r"(?<=[ \"'$(])(?:(?!I\b)[A-Z]|\d)")
"""A name or a number: what is left of a clause says little without."""
MOST_ENDS = 6
"""Places at which a clause may be cut."""
_FOR_NOW = regex(
    r"\b(?:right now|at the moment|these days|lately|currently|for now|this (?:week|month|year))\b", re.IGNORECASE
)
_BY_DEGREES = frozenset({"likes", "prefers", "plays"})
"""Predicates that hold more or less, more or less often, or only at times."""
_PREPOSITIONS = frozenset({"from", "in", "at", "on", "to", "with", "for", "as"})


def english_statement(clause: Clause, turn: TurnText) -> ExtractedStatement | None:
    """What an English clause states about its speaker, or None."""
    if len(clause.text) > MOST_LETTERS:
        return None
    said, correction = opened(clause.text, elided=clause.elided)
    if (hangs := _SUBORDINATE.match(said)) is not None and not _ONLY_SUPPOSED.search(clause.after.strip(" ,-")):
        said = said[hangs.end() :].partition(", ")[0]
    if re.match(r"\W*(?:I|I'm|I've|my|we)\b", clause.after, re.IGNORECASE):
        said = _HERE.sub(r"Call me \g<name>", said)
    said, denied = _not_but(said)
    correction = correction or denied is not None or _CORRECTS.match(clause.before.strip().casefold()) is not None
    timed = LEADING_TIME.match(said)
    if timed is not None:  # "Last month I moved" is read as "I moved", with its time before it
        said = re.sub("^my", "My", said[timed.end() :])
        clause = clause._replace(before=timed["time"])
    for pattern, rule in COMPILED:
        found = pattern.match(said)
        if found is not None:
            trade = rule is DOES and _INTRODUCES.fullmatch(clause.before.strip(" ,.!").replace("’", "'")) is not None
            way = rule._replace(category="identity", loose=True, sharp=False) if trade else rule
            whole = _stated(clause, turn, found, way, correction, denied)
            return whole or _without_its_end(clause, turn, found, way)
    return None


def _without_its_end(
    clause: Clause, turn: TurnText, found: re.Match[str], rule: ExtractionRule
) -> ExtractedStatement | None:
    """What happened, where only what is said behind it points outside or says nothing: "I left my job to find something new"."""
    if (rule.category, rule.kind) != ("fact", "fact"):
        return None
    rule = rule._replace(loose=False)
    ends = [one.start() for one in _BEHIND.finditer(found.string)]
    for end in reversed(ends[:MOST_ENDS]):
        left = found.string[:end]
        if _SAYS_WHAT.search(left) or not (_NAMES.search(left) or TIMED.search(left)):
            continue
        short = found.re.match(left)
        if short is not None and (made := _stated(clause, turn, short, rule, False, None)) is not None:
            return made
    return None


def opened(text: str, *, elided: bool) -> tuple[str, bool]:
    """The clause from its subject on, and whether it takes back something said before; `elided`: one that is left out is I."""
    said = " ".join(text.replace("’", "'").replace("‘", "'").split()).strip(" ,.!?;:)(-–—*#>")
    led = said.casefold()
    correction = _CORRECTS.match(led) is not None
    said = _MEANT.sub("", said)
    said = with_subject(said) if elided else said
    for _ in range(2):
        said = _ADDRESSED.sub("", _FILLERS.sub("", said))
    said = turned(re.sub(r"^one of (?:my|our|the) \w+, ([A-Z]\w+), ", r"\1 ", _FACTIVE.sub("", said)))
    said = re.sub(r"^(?:my|we)\b", lambda found: found[0].capitalize(), re.sub(r"^i\b", "I", said))
    return _MILD.sub(r"\1 ", _ADDED.sub("", said)), correction


def _stated(
    clause: Clause, turn: TurnText, found: re.Match[str], rule: ExtractionRule, correction: bool, denied: str | None
) -> ExtractedStatement | None:
    said, groups = _of_age(found) if rule.predicate == "is aged" else found.string, found.groupdict()
    thing = (groups.get("object") or groups.get("object2") or "").strip(" ,.")
    if not says_something(said, thing, rule, timed=bool(_led_by(clause))):
        return None
    if rule.category in ("fact", "temporary") and (
        of_a_program(thing)
        or (
            (rule.kind == "plan" or not said.startswith("My "))
            and of_a_task(said, clause.around, at_it=rule.confidence == AT_IT)
        )
    ):
        return None
    ended = bool(re.search(r"\b(?:no longer|any ?more|any longer|stopped|quit|given up|gave up)\b", said))
    name = turn.name or "User"
    content = _within_its_time(clause, third_person(said, name)) + _dated(said, turn, rule)
    category = rule.category
    if category == "stable_preference" and _FOR_NOW.search(clause.text):
        category = "short_term_preference"
    asserted = clause.asserted and not unsure(said)
    polarity_of = -1 if _DENIES.search(said) else 1
    twice = bool(re.search(r"\b(?:not|don't|never) (?:really )?(?:hate|dislike|detest|mind)\b", said))
    elsewhen = rule.predicate == "is aged" and of_another_time(content, turn.year)
    triple = None if twice or denied or elsewhen else _triple(said, groups, thing, rule, name)
    ends = third_person(denied, name) if denied else f"{name} likes {in_third(thing)}" if ended else None
    return ExtractedStatement(content, category, rule.kind, 1 if twice else polarity_of, asserted, rule.confidence,
                     (clause.start, clause.end), (), triple, correction, ends)  # fmt: skip


def _of_age(found: re.Match[str]) -> str:
    """The clause, without the words behind the age if they say nothing by themselves: "I'm 44 and new to this"."""
    said = found[0] if VAGUE.search(found.string[found.end() :]) else found.string
    return f"{said} years old" if found["object"] and said.endswith(found["object"]) else said


def _within_its_time(clause: Clause, content: str) -> str:
    """The content with the time that its sentence puts before or after the clause: "In 2010, Ann moved to Boston"."""
    when, until = in_third(_led_by(clause) or set_in(clause.before)), in_third(limited_to(clause.after))
    return ", ".join(part for part in (f"{when[:1].upper()}{when[1:]}", content, until) if part)


def _led_by(clause: Clause) -> str:
    """The time that stands before the clause; else an empty string."""
    before = clause.before.strip(" ,.")
    found = LEADING_TIME.match(f"{before}, I")
    return found["time"] if found is not None and found.end("time") == len(before) else ""


def _not_but(said: str) -> tuple[str, str | None]:
    """ "not X but Y" as Y, with what is denied; else the clause and None."""
    found = re.search(r"(?:\bdo(?:es)?n't|\bnot) (.+?),? but(?: rather)? (.+)$", said)
    if found is None or found[1].startswith(("only", "just")):
        return said, None
    start, first, second = said[: found.start()], found[1].split(" ", 1)[0], found[2]
    lead = second.split(" ", 1)[0]
    if (first in VERBS and lead not in VERBS) or (first in _PREPOSITIONS and lead not in _PREPOSITIONS):
        second = f"{first} {second}"
    return f"{start}{second}", f"{start}{found[1]}"


def _dated(said: str, turn: TurnText, rule: ExtractionRule) -> str:
    """The day from which "yesterday" and an age are to be read; what passes says little without it, what lasts needs none."""
    passing = rule.category in ("fact", "temporary", "short_term_preference")
    ages = (rule.predicate == "is aged" and not of_another_time(said, turn.year)) or "-year-old" in said
    return f" (said on {turn.day})" if turn.day and (passing or ages or speaks_from_its_day(said)) else ""


def _triple(
    said: str, groups: dict[str, str | None], thing: str, rule: ExtractionRule, name: str
) -> StatedTriple | None:
    if rule.predicate is None:
        return english_fact(said, name)
    if not thing or len(thing) > 120:
        return None
    slot = groups.get("slot")
    if slot is not None and slot.startswith(("one", "thing", "part")):
        return None
    predicate = f"favourite {slot}" if slot else works_as(said) or rule.predicate
    if predicate == "has":
        thing = thing.partition(",")[0]
    if predicate not in _BY_DEGREES:
        return StatedTriple(name, predicate, in_third(thing), rule.dislikes)
    # What is denied under a condition is not denied without it: then the condition stays with the thing.
    thing, condition = (thing, None) if rule.dislikes else parted(tidied(thing))
    return StatedTriple(name, predicate, in_third(tidied(thing)), rule.dislikes, degree_of(said), condition)
