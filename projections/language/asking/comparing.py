"""What a question compares: `which came first, A or B`, `between A and B`, A 和 B 哪个. Pure; English and Chinese.

Nothing is parsed: the things stand before and after a word that joins, up to a comma, a word that compares, or where the capital
letters end. What stands around them is asked of each.
"""

from __future__ import annotations

from engramlog_server.projections.language.asked_words import says_something, without_question_words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import holds_han
from engramlog_server.projections.language.text import tokens

MOST_COMPARED = 4
_NO_NAME = (
    "Did|Does|Do|Is|Are|Was|Were|Has|Have|Had|Can|Could|Will|Would|What|When|Where|Who|Which|Why|How|And|The|My|I"
)
_NAME = rf"\b(?!(?:{_NO_NAME})\b)[A-Z][\w'’-]*(?:\.? (?:(?:of|de|van) )?[A-Z][\w'’-]*\.?){{0,3}}"
_ECHO = regex(
    r"\b(?P<word>only|just|more|less|fewer|better|worse|over|again|round) and (?P=word)\b(?!['’])"
    r"|\b(?P<other>\w+) and (?P=other)(?=\s*(?:[,.:;?!]|$)|\s+(?:and|or)\b)",
    2,
)
"""*ONLY and ONLY five*, *round and round*: said for weight, and no two things. *Rome and Rome NY*, *Sam and Sam's cat* are."""
_CUE = regex(
    r"\b(?:first|last|earlier|later|sooner|more|less|fewer|older|younger|longer|shorter|bigger|smaller|better|worse|cheaper"
    r"|before|after|between|compared?|comparison|differen\w+|differ|versus|vs|both|either|same|similar|common|each|together)\b",
    2,
)
_CUE_WORDS = regex(
    r"\b(?:came|come|happen(?:ed|s)?|first|last|earlier|later|sooner|before|after|between|compared?|comparison|both|either|same"
    r"|difference|differ|versus|vs|each)\b",
    2,
)
_AROUND = regex(
    r"^(?P<head>.*?)\b(?:(?P<between>between)|(?P<compare>compar(?:e|ing))|both|either)\s+(?P<a>[^,.?!;]{2,160}?)\s+"
    r"(?:(?(between)and(?: between)?|(?(compare)(?:and|with|to|versus|vs\.?)|(?:and|or))))\s+(?P<b>[^,.?!;]{2,160})(?P<tail>.*)$",
    2,
)
_LISTED = regex(
    r"^(?P<head>.*[,:])\s*(?P<a>[^,:.?!;]{2,120}?),?\s+(?P<joined>or|and|versus|vs\.?)\s+(?P<b>[^,:.?!;]{2,120})(?P<tail>[^\w]*)$",
    2,
)
_NAMED = regex(rf"(?P<a>{_NAME}(?:, {_NAME}){{0,3}}),? (?:and|or|and/or|versus|vs\.?|than) (?P<b>{_NAME})(?:'s|’s)?")
_THAN = regex(
    r"^(?P<a>.{2,200}?)\s+(?:(?:\w+er|more|less|better|worse)\s+(?:\w+ )?than|before|after)\s+"
    r"(?!I\b|we\b|he\b|she\b|they\b|that\b|this\b)"
    r"(?P<b>[^,.?!;]{4,120})",
    2,
)
_THING_ENGLISH = regex(r"\b(?:the|my|our|an?|his|her|their|your)\b.*$", 2)
_NOTHING_ASKED = regex(r"(?:(?:which|what|who|is|was|are|were|the|of|one)\b[\s,:]*)+", 2)
_SPLIT = regex(r",\s*")
_THING = "[^，,。：:；;？?！!、]"
_HAN_PAIR = regex(
    rf"(?:^|[，,：:])(?:比较|对比)(?:一下)?(?P<e>{_THING}{{2,40}}?)(?:和|跟|与)(?P<f>{_THING}{{2,40}}?)(?=的|[，,。？?]|$)"
    rf"|(?:^|[，,：:])(?P<a>{_THING}{{2,40}}?)(?<![的地得])(?:(?:和(?![平谐气睦])|跟|与|、|同(?![学事时样]))(?P<b>{_THING}{{2,40}}?)"
    r"(?P<tail>哪[个一件家种]|谁|相比|比较|之间|(?<![成首京古故])都|各自|分别|有什么|的区别|的不同|更|先|早|晚|一样)"
    rf"|(?:还是|或者)(?![不没很会要想觉感])(?P<c>{_THING}{{2,40}}?)(?=哪[个一件家种]|谁|更|[，,？?]|$)"
    rf"|比(?![赛较如方])(?P<d>{_THING}{{2,40}}?)(?=更|早|晚|先|[吗？?]))"
)
_HAN_ALSO = regex("、|和|跟|与")
_HAN_CUE = regex("都|各自|分别|相比|比较|之间|更|先|早|晚|的区别|的不同|一样")
_HAN_FRAME = regex(
    "^(?:请问|请|帮我|告诉我|比较(?:一下)?|对比(?:一下)?|我想知道|你?(?:还)?记得)+|(?:的?是|先|更早|更晚|更)$"
)
_PRONOUN = regex("(?:^|[，,])?(?:但|如果|我|你|他|她|它|们)*$")


def compared(text: str) -> list[str]:
    """A sentence once for each thing that it compares, four at most; nothing where it compares none."""
    return _of_han(text) if holds_han(text) else _of_english(text)


def _of_english(text: str) -> list[str]:
    text = _ECHO.sub(lambda echo: echo["word"] or echo["other"], text)
    if _CUE.search(text):
        if (match := _AROUND.search(text)) is not None and match["a"].casefold() not in {"before", "more"}:
            things = _SPLIT.split(match["a"])
            joined = bool(match["between"] or match["compare"])
            parts = [_each(match["head"], one, match["tail"], joined=joined) for one in (*things, match["b"])]
            return parts[:MOST_COMPARED]
        if (match := _THAN.search(text)) is not None and "," not in match["a"]:
            return [match["a"], f"{_frame(match['a'])} {match['b']}"]
    match = _LISTED.search(text)
    if match is not None and (_CUE.search(text) or match["joined"].casefold() != "and"):
        earlier = [one for one in _SPLIT.split(match["head"].rstrip(",:"))[1:] if len(one) < 120]
        head = _SPLIT.split(match["head"])[0]
        things = [*earlier, match["a"], match["b"]]
        return [_each(head, one, "", joined=True) for one in things][:MOST_COMPARED]
    match = _NAMED.search(text)
    if match is not None and match.start() > 0 and match["a"].casefold() != match["b"].casefold():
        head, tail = text[: match.start()], text[match.end() :]
        return [_each(head, one, tail) for one in (*_SPLIT.split(match["a"]), match["b"])][:MOST_COMPARED]
    return []


def _frame(left: str) -> str:
    """What is asked of the thing that a text ends with, or that its verb follows."""
    frame = _THING_ENGLISH.sub("", left)
    return frame if says_something(frame) else left.rsplit(maxsplit=1)[-1]


def _each(head: str, thing: str, tail: str, *, joined: bool = False) -> str:
    """What is asked of one thing: the thing alone where only *which* is left of it, and behind a colon where a word `joined` it."""
    asked = " ".join(_CUE_WORDS.sub(" ", head).split()).strip(" ,:")
    rest = _CUE_WORDS.sub(" ", tail)
    if _NOTHING_ASKED.fullmatch(asked) and tokens(f"{asked} {thing}") == tokens(thing):
        return " ".join(f"{thing} {rest}".split()).rstrip(" ?")
    if asked and joined:
        asked += ":"
    return " ".join(f"{asked} {thing} {rest}".split()).replace(" ?", "?")


def _of_han(text: str) -> list[str]:
    match = _HAN_PAIR.search(text)
    if match is None:
        return []
    second = match["b"] or match["c"] or match["d"] or match["f"]
    things = [_HAN_FRAME.sub("", one) for one in (*_HAN_ALSO.split(match["a"] or match["e"]), second)]
    if any(len(one) < 2 or _PRONOUN.fullmatch(one) for one in things):
        return []
    tail = f"{match['tail'] or ''}{text[match.end() :]}"
    asked = _HAN_CUE.sub("", without_question_words(tail))
    asked = asked.replace(" ？", "？").replace(" ?", "?") if any(letter.isalnum() for letter in asked) else ""
    return [f"{one}{asked}" for one in things][:MOST_COMPARED]
