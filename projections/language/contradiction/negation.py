"""Where a statement is turned round: its negating words marked, set phrases that only look like negation left out.

The mark `NOT` stands where a negation begins and `END` where its reach ends; what lies between two marks is denied, and
denied twice it is affirmed again. A denial reaches to the right, to the end of its clause (both languages).
"""

from __future__ import annotations

import re

from engramlog_server.projections.language import negators
from engramlog_server.projections.language.lexicon import either
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.polarity import plain

NOT, END = "\u0001", "\u0002"
"""Control characters, which `marked` takes out of the text before."""
_CONTROL = regex("[\u0000-\u0008\u000e-\u001f]")

_IDLE_CHINESE = regex(
    lambda: (
        r"(?P<drop>(?<![^\s,.!?;。、])(?:不|没有|没|不是)(?:啊|呀|哦|啦|的|呢|吧)?(?=[\s,.!;。])"
        r"|(?<=,)\s?(?:难道)?不是吗(?=\W*$)|(?<![^\s,.!?;。、])没办法(?:啊|呀|呢)?(?=[\s,.!;。])"
        r"|(.)[不没](?=\2)|没有?[啊呀呢吗]?(?=$|[?.!。])|了没(?=[啊呀呢?]|$)|不[啊呀]?(?=$|\?))"
        r"|没事(?=$|[儿吧吗的啊呀,.!?。])|不止|未婚|别(?=[的处样])|岂不|怪不得|不该|不便|失业|不幸|不满(?!意)|不一样"
        rf"|没意思|没钱|无名|不清楚|莫名|{negators.idle()}"
    )
)
"""What holds a negating character and denies nothing, or is a word with an opposite of its own (不该, 无聊)."""


def _not_chinese() -> str:
    return (
        f"[{negators.characters(but='别別非')}](?:有|会|能|想|要|用|必|曾)?|别(?=[^的])|非(?=[去要说])|并非|极少|戒(?![指备尺])"
        f"|{either(negators.chinese('verb'))}"
    )


_TURNS_CHINESE = regex(lambda: f"{_IDLE_CHINESE.pattern}|(?P<denies>{_not_chinese()})")
_END_CHINESE = regex(r"[,.;:!?。、\n…~～]+|但是?|可是|不过|而是|因为|所以|只是|的时候|的话|还是|就是")
_IDLE_ENGLISH = regex(
    r"(?<![^\s,.!?;])(?:oh )?(?:no|nope|nah)\b(?=[,.!;])|\bnot (?:only|just|to mention)\b"
    r"|\bno (?:problem|doubt|matter|wonder|sooner)\b|\bno\. ?(?=\d)|\bcan not (?:wait|help)\b"
    r"|\b(?:why|if|or|of course) not\b(?! [a-z])|\bnothing but\b|\bnever mind\b|, \w+ not (?:i|you|he|she|it|we|they)\?"
)
_NOT_ENGLISH = regex(
    lambda: (
        rf"\b(?:no longer|no one|no-one|{either(negators.english('word'))}|nor|cannot"
        r"|unable to|(?:fail|refus|stopp?|quit+|avoid|ceas)(?:e|es|s|ed|ing)?(?: to)?(?= [a-z])"
        r"|g[ia]ven? up|giving up|den(?:y|ies|ied|ying)(?= that)"
        r"|(?<!am )(?<!is )(?<!are )(?<!was )(?<!get )(?<!got )(?<!be )used to|any ?more)\b"
    )
)
_WHOLE = regex(r"\bthere (?:is|are|was|were) (?:not|no)\b|^(?:no|nobody|not)\b")
_END_ENGLISH = regex(
    r"[.;:!?\n]+|,(?= (?:i|you|he|she|it|we|they|so|which|who|but|because|although|there|the)\b)"
    r"|\b(?:but|although|though|because|while|whereas|however|instead|when|if|that)\b"
    r"|\band(?= (?:(?:i|you|he|she|it|we|they|there)\b|(?:is|are|was|were|has|have|had|do|does|did|can|will|would)\b))"
)
_END_OF_PHRASE = regex(r"\b(?:is|are|was|were|has|have|in|on|at|and|to|with|by|of|near|while)\b|[,.;:!?]")
_NO = regex(r"(?:不|没有|不是|不对|不行|不可能)[啊呀哦啦的呢吧]?[,.!。]|(?:oh,? )?(?:no|nope|nah)[,.!]")
_YES = regex(
    r"(?:那?[挺很真太]?[好行对是]|嗯+|可以|当然|没错)[的啊呀哦啦呢吧了嘛]{0,2}[,.!。]"
    r"|(?:oh,? )?(?:yes|yeah|yep|sure|right|of course)[,.!]"
)
_ONE_WORD = {"不一样": "不同"}
"""What the segmenter would cut, so that only its negation were left out."""
_ALONE = {"used to": f" {NOT} ", "anymore": " ", "any more": " "}
_PERSON = {"nobody": "somebody", "no one": "somebody", "no-one": "somebody"}


def written(text: str) -> str:
    """The text in one writing, without control characters."""
    return _CONTROL.sub(" ", plain(text))


def answer(text: str) -> int:
    """1 where a text from `written` begins by answering yes, -1 by answering no, else 0."""
    return 1 if _YES.match(text) else -1 if _NO.match(text) else 0


def marked(text: str) -> str:
    """A text from `written` with `NOT` before what is denied and `END` where clauses end; negating words are gone."""
    chinese = _END_CHINESE.sub(lambda end: f"{END}{end[0]} ", _TURNS_CHINESE.sub(_turned, text))
    return _marked_english(_IDLE_ENGLISH.sub(" ", chinese))


def _turned(found: re.Match[str]) -> str:
    if found["drop"]:
        return " "
    return NOT if found["denies"] else _ONE_WORD.get(found[0], found[0])


def _marked_english(text: str) -> str:
    whole = _WHOLE.search(text) is not None
    parts, at = [], 0
    for found in _NOT_ENGLISH.finditer(text):
        word = found[0]
        mark = _ALONE.get(word, f" {NOT} {_PERSON.get(word, '')} ")
        parts += [text[at : found.start()], mark]
        at = found.end()
        if word == "without" or (word == "no" and not whole):
            end = _END_OF_PHRASE.search(text, at, at + 80)
            if end is not None:
                parts += [text[at : end.start()], f" {END} "]
                at = end.start()
    denied = "".join([*parts, text[at:]])
    if whole:
        return re.sub(r"[.;!?\n]+", END, denied)
    return _END_ENGLISH.sub(lambda end: f" {END} {end[0]}", denied)
