"""Orders that a text gives to the model that reads it, and the marks of an event that the log keeps beside its body.

Orders are looked for in texts of documents, tools and assistants, never in the user's own. A text gives one where a clause of it
tells a model what to do: it speaks to a model by that name, sends something of the user's away, runs, deletes or pays, has the
model say or hide something, or has it play somebody. A condition may stand before the order ("before you continue, ..."). Advice
to people ("preheat the oven") is no order.

A person should look at what a memory is to say if it is a standing instruction, an order to its reader, or what an assistant
concluded about the user. Users' own words are never asked about, and a turn is kept as it was said.

The marks of an event (`MARKER`, handed to the log) are the level of its words, its statements and whether it is doubtful.
"""

from __future__ import annotations

import re
from functools import cache
from re import Pattern
from unicodedata import normalize

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION, MemoryCreated, MemoryRevised
from engramlog_server.events.envelope import AnyEvent, Marker, Marks
from engramlog_server.events.text import without_hidden
from engramlog_server.projections.language.extraction.instructions import INSTRUCTION
from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.language.lexicon import either, rows
from engramlog_server.projections.language.patterns import holds_han
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES, holds_words, level_of
from engramlog_server.projections.language.statements import STATEMENT_RULES, statements_of, values_of

ABOUT_THE_USER = frozenset({"identity", "stable_preference", "short_term_preference"})
_MARKUP = r"<\s*/?\s*(?:tool_call|function_call|system|memory|instructions?)\b|<\||^\s*system\s*:"
"""What only somebody writes who would be taken for the prompt itself."""


@cache
def _orders() -> Pattern[str]:
    def role(name: str, language: str) -> str:
        return either(word for row in rows("orders") if name in row["role"] for word in row[language])

    of_people = r"(?<!who )(?<!that )(?<!not )(?<!n't )"
    english = rf"{of_people}\b(?:{role('drop', 'english')})\b(?:\W+\w+){{0,4}}\W+(?:{role('rules', 'english')})\b"
    chinese = rf"(?:{role('drop', 'chinese')})[^，。！？\n]{{0,12}}(?:{role('rules', 'chinese')})"
    said = rf"\b(?:{role('phrase', 'english')})\b|{role('phrase', 'chinese')}"
    return re.compile("|".join((english, chinese, said, _MARKUP)), re.IGNORECASE | re.MULTILINE)


def is_doubtful(event: AnyEvent) -> bool:
    """Whether what an event would have a memory say is for a person to look at, unless he said it himself."""
    data = event.data
    if isinstance(data, MemoryCreated):
        if data.summarises or data.source_turns == (data.memory_id,):  # a summary, or a turn
            return False
        concluded = data.source == "assistant" and data.category in ABOUT_THE_USER
        return concluded or data.kind == INSTRUCTION or sounds_like_an_order(data.content)
    return isinstance(data, MemoryRevised) and sounds_like_an_order(data.content)


def overrides_rules(text: str) -> bool:
    """Whether a text speaks to a model over the user's head: it tells it to drop its rules, or imitates the prompt."""
    return _orders().search(text) is not None


def sounds_like_an_order(text: str) -> bool:
    """Whether a text asks its reader to do something from then on, or speaks to a model over the user's head."""
    if overrides_rules(text):
        return True
    return any(one.kind == INSTRUCTION and one.asserted for one in extract(TurnText("", text, "user", None)))


MOST_READ = 800
"""Characters that are read: more than a line of a block shows."""
_ROLES = ("model", "send", "run", "end", "say", "play", "theirs", "risky", "many", "user")
_PIECES = re.compile(
    r"[\n\"“”{}<>|;；。！？!?]|[.:](?=\s|$)|：|\s(?:and then|then|and|but|to finish)\s|，?(?:然后|再|并且|并|接着)"
)
_LED = (
    r"(?:[\W_]|\b(?:please|kindly|now|first|next|also|just|immediately|important|silently|quietly|always|you (?:must|should|need to"
    r"|have to|are to|will|may)|i want you to|make sure to|be sure to|remember to|go ahead and|feel free to)\b"
    r"|\b(?:before|after|once|when|whenever|if|in order to|from now on|as soon as|unless|until|instead of)\b[^,]{0,80},)*+"
)
_LED_CHINESE = (
    r"(?:[\W_]|请|先|立即|立刻|马上|现在|直接|务必|必须|一定要|你(?:必须|要|应该|需要|可以)?|您|随后|(?:不用|无需|不必)[^，,]{1,8}[，,]"
    r"|(?:从现在起|以后|今后)|[^，,]{1,24}(?:之前|以前|之后|以后|时|的话)[，,])*+"
)


def _words(*languages: str) -> dict[str, str]:
    """By role the words of some languages as alternatives."""
    told = {role: [row for row in rows("orders") if role in row["role"]] for role in _ROLES}
    return {
        role: either(word for row in found for one in languages for word in row[one]) for role, found in told.items()
    }


@cache
def _english() -> tuple[Pattern[str], Pattern[str]]:
    """Patterns that are an order anywhere in a text, and patterns that are one at the start of a clause."""
    word = _words("english")
    must = r"(?:must|should|shall|ha(?:s|ve) to|needs? to|(?:is|are) (?:to|required to|instructed to)|may)(?: not|n't)?"
    said = r"(?:answers?|repl(?:y|ies)|responses?|messages?|outputs?)"
    does = rf"(?:{word['say']}|{word['send']}|{word['run']}|{word['end']}|{word['play']})"
    model = rf"(?:{word['model']})s?(?! (?:manager|director|editor|professor|coach)\b)"
    user = rf"(?:{word['user']})"
    place = r"(?:address|form|server|endpoint|webhook|channel|account|url|link|bucket|number|site|page|repository)"
    there = rf"(?:to|into|at|via) (?:\S*(?:@|://)|(?:the|this|my|our|that|an?) (?:\w+ ){{0,2}}{place}\b)"
    said_to = f"{word['say']}|(?:tell|ask|warn|inform|notify)(?:ing)?"
    of_what = (
        rf"the {user}|your (?:\w+ )?(?:prompt|instructions|rules|memory|memories|{said})|hidden (?:prompt|rules)|only (?:with|in)"
        r"|nothing (?:but|else)|whatever|regardless"
    )
    anywhere = (
        rf"\b{model}\b(?: \w+){{0,5}} {must} (?:\w+ )?{does}\b",
        rf"\bif you(?: are|'re) (?:an? |the )?(?:\w+ )?{model}\b",
        rf"\b(?:note|message|instructions?|attention|dear)s? (?:to|for)? ?(?:all |any |the )?(?:{model}|model)\b",
        r"\byou(?: are|'re) (?:no longer|now) (?:an?|my)\b",
        r"\b(?:whoever|anyone who) (?:reads?|process(?:es)?|summari[sz]es) this\b",
        rf"\b(?:all|each|every|any)(?: of)? (?:your |future )*{said}\b[^,\n]{{0,40}} {must}\b",
        rf"\b(?:in|to|with) (?:all|each|every)(?: one)? of your {said}\b",
        rf"\b(?:when|if|whenever|once|every time) (?:the |a |any )?{user}\b[^,\n]{{0,60}}, (?:please |always |just )*{does}\b",
        rf"\b(?:do not|don't|never|without) (?:\w+ ){{0,2}}(?:{said_to})\b[^,\n]{{0,40}}\b(?:{user}|anyone|anybody|owner)\b",
    )
    begins = (
        rf"(?:{word['send']})\b[^,]{{0,80}}(?:\b(?:{word['theirs']})\b|\w\.\w{{2,4}}\b|[~/]\w)[^,]{{0,60}}\b{there}",
        rf"(?:{word['run']})\b[^,]{{0,60}}(?:{word['risky']})",
        rf"(?:{word['end']})\b[^,]{{0,20}}\b(?:{word['many']})\b",
        rf"(?:{word['run']}|{word['end']})\b.{{0,80}}\bwithout (?:\w+ )?(?:asking|confirm\w*|telling|approval|permission|review)\b",
        rf"(?:{word['say']})\b[^,]{{0,60}}\b(?:{of_what})\b",
        rf"(?:{word['play']})\b",
    )
    return _compiled(anywhere), _compiled((f"{_LED}(?:{'|'.join(begins)})",))


@cache
def _chinese() -> tuple[Pattern[str], Pattern[str]]:
    word = _words("chinese") | {
        role: told for role, told in _words("chinese", "english").items() if role in ("model", "risky")
    }
    said = "(?:回复|回答|答复|消息|输出)"
    does = f"(?:{word['say']}|{word['send']}|{word['run']}|{word['end']}|{word['play']})"
    near = "[^，,。！？!?\\n]"
    anywhere = (
        f"(?:{word['model']}){near}{{0,12}}(?:必须|应该|应当|需要|不得|不应|不能|不许|务必|要){near}{{0,10}}{does}",
        f"如果你是{near}{{0,8}}(?:{word['model']})",
        f"(?:给|致|各位){near}{{0,6}}(?:{word['model']}|模型)的?(?:提示|指令|指示|说明|备注|话)",
        f"你(?:不再|从此|以后)是{near}{{1,12}}助手|你(?:现在|从现在起|从此)是",
        f"(?:处理|读到|看到|阅读|总结)这{near}{{1,8}}的(?:人|模型|程序)",
        f"(?:所有|全部|每一?[个条次]){near}{{0,4}}{said}{near}{{0,12}}(?:必须|应|须|要|附上|加上|包含|提到)",
        f"(?:{word['user']}){near}{{0,12}}(?:问|提到|要求){near}{{0,16}}[，,]{near}{{0,10}}(?:{word['say']})",
        f"(?:不要|别|不得|不应该?|不能|不许|不准|切勿)再?(?:向|对|跟|让|给|和)?(?:{word['user']}|任何人|别人)再?(?:{word['say']}|提|说|知道|看)",
        f"(?:必须|只能|一律|只许|统一|都要|务必|只)(?:用{near}{{1,8}})?(?:回复|回答|答复|输出)",
        f"(?:以上|之前|上面){near}{{0,6}}(?:作废|无效|不算)",
    )
    begins = (
        f"(?:把|将){near}{{0,30}}(?:{word['theirs']}|\\w\\.\\w{{2,4}}|[~/]\\w){near}{{0,16}}(?:{word['send']})",
        f"(?:{word['run']}){near}{{0,30}}(?:{word['risky']})",
        f"(?:{word['end']}){near}{{0,20}}(?:{word['many']})",
        f"向{near}{{1,20}}(?:转账|汇款|付款|打款|支付)",
        f"(?:{word['say']}){near}{{0,10}}(?:你的|用户的|客户的|系统提示|隐藏|密码|密钥)",
        f"(?:{word['play']})",
    )
    return _compiled(anywhere), _compiled((f"{_LED_CHINESE}(?:{'|'.join(begins)})",))


def _compiled(forms: tuple[str, ...]) -> Pattern[str]:
    return re.compile("|".join(forms), re.IGNORECASE)


def gives_orders(text: str) -> bool:
    """Whether a text that is not the user's tells the model that reads it what to do, in the part of it that a block may show."""
    begin = text[:MOST_READ]
    if sounds_like_an_order(begin):
        return True
    seen = normalize("NFKC", without_hidden(begin, lines=True)).replace("’", "'")
    forms = [_english(), _chinese()] if holds_han(seen) else [_english()]
    return any(anywhere.search(seen) for anywhere, _ in forms) or any(
        begins.match(piece.strip()) for piece in _PIECES.split(seen) if piece for _, begins in forms
    )


def mark(event: AnyEvent) -> Marks:
    """Its level, 0 to 3, and its statements, each as the bytes that are to be keyed. Decided once, when it is appended."""
    return Marks(level_of(event), statements_of(event), values_of(event))


WORDLESS = frozenset(
    f"{name}.{version}"
    for name, latest in LATEST_VERSION.items()
    if not holds_words(EVENT_TYPES[name])
    for version in range(1, latest + 1)
)
MARKER = Marker(LEVEL_RULES, STATEMENT_RULES, mark, WORDLESS, is_doubtful)
