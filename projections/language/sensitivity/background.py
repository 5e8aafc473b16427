"""Level 1: someone's occupation or education (seed 002's "general"), in English and Chinese."""

from __future__ import annotations

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading, Words
from engramlog_server.projections.language.sensitivity.rule import Begun, Rule, found_in_lower, found_in_text, listed

PROFESSIONS = Cues(Words("background_professions"))
_SAID_OF = regex(r"(?: am|i'm| is|'s| as) an? (?:[\w-]{1,20} ){0,2}\Z")
_GOES_ON = regex(r"\w")

WORK = Cues(listed("work, works, worked, working, job, profession, occupation, title"))
STUDY = Cues(Words("background_study"))

_OCCUPATION = regex(
    r"work(?<![a-z]work)(?:s|ed|ing)?\s(?:for|at)\s(?:an?|the)\s"
    r"(?!time|moment|same|first|best|future|next|other|most)[a-z]"
    r"|job(?<=[arswy] job) (?:as an?|at|with)\s"
    r"|(?:profession(?<=my profession)|occupation(?<=my occupation)|job(?<=my job)(?: title)?) is\b"
)
_EDUCATION = Begun(
    r"graduat(?:ed|ing|e) (?:from|in|with)\b",
    r"bachelor['’]?s? (?:degree|of|in)\b",
    r"master['’]?s? (?:degree|of|in)\b",
    r"degree in\b",
    r"major(?:ed|ing) in\b",
    r"my (?:[a-z]{1,16} )?(?:degree|major|thesis|dissertation)\b",
    r"stud(?:ied|ies|ying|y) (?:[a-z-]{1,20} ){0,4}at (?:[a-z-]{1,20} ){0,3}(?:university|college|school)",
    r"student(?<=(?:lege|uate|sity|hool| law| phd|ical|grad) student)\b",
    r"student at\b",
)

PROFESSIONS_ZH = Cues(Words("background_professions_zh"))
BACKGROUND_ZH = Cues(Words("background_background_zh"))

_IS_PROFESSION_ZH = regex(
    lambda: (
        r"(?:我|[你他她]|爸|妈|妻子|丈夫|老公|老婆|哥|姐|弟|妹|儿子|女儿|朋友)(?:现在|目前|以前|曾经)?[是当做][过了]?(?:一?[名个位])?"
        rf"[^,，。!！?？\n]{{0,8}}?(?:{'|'.join(PROFESSIONS_ZH)})"
    )
)
_BACKGROUND_ZH = regex(
    r"(?:职业|专业|学历|岗位|职位|职务)(?:是|为|[:：])|[我他她]的?工作(?:单位)?(?:是|为|[:：])"
    r"|在(?<!现在)[^,，。!！?？\n在找哪么想]{1,16}(?:工作|上班|任职|就职|教书|实习)(?!日)|毕业于|(?:大学|学院|中学|高中|专业|本科|硕士|博士)毕业|就读"
    r"|主修|攻读|从事[^,，。!！?？\n]{1,12}(?:工作|行业)|担任|(?:本科|硕士|博士|大专)学[历位]"
    r"|在(?<!现在)[^,，。!！?？\n在哪么]{1,12}(?:大学|学院|中学|高中)[^,，。!！?？\n]{0,4}(?:读|上学|学习)"
)


def says_where_someone_works(read: TextReading) -> bool:
    """Whether the text says for whom or as what someone works, as in "works at the mill"; each way of it begins with a cue."""
    return any(_OCCUPATION.match(read.lower, start) for start in read.starts(WORK))


def says_profession(read: TextReading) -> bool:
    """Whether the text says what someone is, as in "I'm a nurse" or "works as an actor"."""
    return any(
        _SAID_OF.search(read.lower, max(0, start - 52), start) and not _GOES_ON.match(read.lower, end)
        for start, end in read.places(PROFESSIONS)
    )


RULES = (
    Rule("occupation", 1, says_profession, PROFESSIONS),
    Rule("occupation", 1, says_where_someone_works, WORK),
    Rule("education", 1, found_in_lower(_EDUCATION), STUDY),
    Rule("occupation-zh", 1, found_in_text(_IS_PROFESSION_ZH), PROFESSIONS_ZH),
    Rule("occupation-or-education-zh", 1, found_in_text(_BACKGROUND_ZH), BACKGROUND_ZH),
)
