"""What is said of a person and passes, or is no fact of his: how a program is made, what one will do tonight, and what is said of a
while that ends or of another time, in English and Chinese.

"I live in Paris for the summer" and "In 2010, I moved to Boston" say little about where somebody lives. A sentence often says this
next to the clause that states something: `set_in` and `limited_to` read it there.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.extraction.english_rules import DAY
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.calendar import MONTH

_MADE = regex(
    r"^(?:(?:my )?(?:\w+ )?goal is (?:to )?)?(?:(?:have|has|already|also|just|now|successfully|planning|planned|decided"
    r"|targeting|trying|studying|finalizing|able) )*(?:to )?"
    r"(?:add|implement|defin|test|set up|configur|fix|updat|refactor|encounter|complet|finish|install|creat|us|estimat"
    r"|identif|deploy"
    r"|optimi[sz]|reduc|improv|integrat|writ|wrote|writt|mad|make|cover|build|built|chang|remov|renam|link|includ|stor|handl|increas"
    r"|a response|minif|compress|host|enabl|validat|log|measur|run|ran|achiev|got|hit|reach|tried|tag|modulari[sz]|go with"
    r"|plan|review|basic|a simple|the|push|merg|split|clean|cho[so])\w*\b",
    re.IGNORECASE,
)
_PROGRAM = regex(
    r"\b(?:APIs?|endpoints?|database|schemas?|SQL\w*|CSS|HTML\d?|JavaScript|JS|JSON|YAML|MVC|MVP|ORM|CRUD|ARIA|UUIDs?|DOM|SEO|CDN"
    r"|Flask\S*|Django|React\S*|Bootstrap|Sass|npm|Webpack|Docker\w*|Redis|GitHub|pytest|functions?|modules?|(?:unit"
    r"|integration) tests?"
    r"|error ?handl\w+|requests?|routes?|quer(?:y|ies)|index(?:es|ing)|hash(?:ing|ed)|session management|cookies?|tokens?"
    r"|components?|nav ?bar|repo(?:sitory)?|deploy\w*|migrations?|cach(?:e|ing)|middleware|authentication|password\w*"
    r"|accessibility|lazy.?load\w*|stylesheets?|back-?end|front-?end|server-side|response times?|load times?|(?<!coupon"
    r" )(?<!promo )(?<!zip )code|codebase|bugs?"
    r"|templates?|form for|app into|dependenc(?:y|ies)|configuration|maintainability|\w+\.(?:com|security)|attributes?"
    r"|breakpoints?|viewport|keyboard navigation|WebP|Lighthouse|ESLint|selectors?|layout|grid|web ?page"
    r"|\w+Error|constraint|port \d+|HTTPS|SSL|TLS|JWT|OAuth|pull requests?|branch(?:es)?|pipelines?|linting|bundle size"
    r"|microservices|monolith|my app to use|alt text|meta (?:tags?|descriptions?)"
    r"|form validation|servers?|release v\d|v?\d+\.\d+\.\d+)\b|\b[a-z]+_[a-z_]+\b|-[a-z]+:"
)
_DATED = regex(rf"{DAY}|(?i:\b(?:{MONTH})\b)")


def of_a_program(thing: str) -> bool:
    """Whether a thing done, or planned, is work on a program without a day: such work is no fact about the person."""
    return _MADE.match(thing) is not None and _PROGRAM.search(thing) is not None and _DATED.search(thing) is None


_ASKS_FOR_HELP = regex(
    r"\b(?:(?:can|could|would|will) you|(?<!to )help me|how (?:can|do|should|could|might|would) (?:I|we)|should I"
    r"|what(?:'s| is| are) the"
    r"|what (?:should|do) (?:I|you)|(?:I'm|I am|I was) (?:just |now |also |kinda |still )*(?:not sure|unsure|wondering"
    r"|curious|stuck"
    r"|having trouble|looking for)|(?:any|some) (?:tips|advice|suggestions|recommendations)|is (?:it|that|this) (?:ok|okay|a good"
    r"|worth|enough))\b",
    re.IGNORECASE,
)
_TRIES = regex(r"I(?:'m| am) (?:\w+ )?trying to\b|I want to\b(?!.*[$£€])")
_PARTICULAR = regex(r"[A-Z\d$£€\"“]|\bnever\b")


def of_a_task(said: str, around: str, *, at_it: bool) -> bool:
    """Whether it is what somebody is asked to help with: it names nobody, nothing and no number, or is tried on no day.

    `at_it`: it says what one is at.
    """
    general = _PARTICULAR.search(said, 1) is None or (_TRIES.match(said) is not None and _DATED.search(said) is None)
    return (at_it or general) and _ASKS_FOR_HELP.search(around) is not None


_TONIGHT = regex(
    "^(?!.{0,4}(?:[周期拜][一二三四五六日天]|[号日]|明天|后天))[^，]{0,4}?(?:今天|今晚|晚上|下午|中午|待会儿?|等会儿?|一会儿?|等下)[^，]{0,4}(?:打算|计划|准备|要|想)"
)
"""A plan of the hour."""
_BARE_WISH = regex(
    "(?:想|想要|考虑|打算|计划|准备)(?:一直)?(?:去|在)?(?:出去|外面|户外|公园里?|外边)?(?:旅游|旅行|玩儿?|散步|走走|逛逛|放松|休息"
    "|爬山|运动)(?:一下)?(?:放松)?(?:一下)?(?:自己|心情)?$|(?:准备|要|打算)(?:去)?(?:睡觉?|吃饭|出门|下班|起床|洗澡)了?$"
)
"""To go somewhere, anywhere."""
_SOMETHING_ELSE = regex("(?:一些|几个)?其他的?|先[去做看吃来]")
_PROMISES = regex("先[将把]|一定会|会(?:尽量|努力|试试|尝试|考虑|记住|注意)|将?尝试一?[些下]|好好[^，。]{1,6}$")
"""Politeness after advice, and steps of a recipe."""
_INTENDS = regex("打算|计划|考虑|决定|准备|将要?|想")


def of_the_hour(said: str) -> bool:
    """Whether a Chinese clause has a plan of the hour, a wish without an object, or one that leans on what was said before."""
    return (
        _TONIGHT.search(said) is not None
        or _PROMISES.search(said) is not None
        or _BARE_WISH.search(said) is not None
        or (_INTENDS.search(said) is not None and _SOMETHING_ELSE.search(said) is not None)
    )


_SEASON = r"(?:summer|winter|spring|autumn|fall|semester|term|holidays?|season|weekend|week|month|year|time being|moment|present)"
_SPAN = r"(?:days?|nights?|weeks?|months?|semesters?|terms?|summers?|winters?|years?)"
_SOME = r"(?:an?|one|two|three|four|five|six|\d{1,3}|a few|a couple of|several|some|a short)"
_FOR_A_TIME = regex(
    rf"\b(?:temporar\w+|for now\b|for (?:the|this|next) (?:next |whole |entire )?{_SEASON}|for {_SOME} {_SPAN}(?! now)"
    rf"|until|till|(?:over|during) the {_SEASON}|this (?:summer|winter|spring|autumn|fall|semester|term|season)"
    rf"|next {_SEASON}|in (?:the )?(?:summers?|winters?|springtime|autumn)\b|(?:on|at) (?:the )?weekends?|on weekdays"
    r"|part[- ]time|(?:half|part) (?:of )?the|sometimes"
    r"|on (?:an? )?(?:exchange|vacation|holiday|assignment|sabbatical|business))\b"
    "|暂时|临时|暂住|借住|短期|过渡|平时|周末|期间|直到|为止|出差|暑假|寒假|假期|夏天|冬天|春天|秋天|学期|明年|下个?月"
    "|这(?:段时间|几[天周]|几个月)"
    "|(?<!延后|推迟|提前|往后)[一二两三四五六七八九十几半\\d](?:天|周|个?星期|个月)"
    "(?![前初底份]|以前|之前|[一二两三四五六七八九十几\\d]+[顿次杯回片粒])",
    re.IGNORECASE,
)
_EARLIER = regex(
    r"\b(?:(?:years?|decades?|long) ago|last (?:year|decade)|years? (?:before|earlier)|when (?:they|I|my|their)\b"
    r"|as an? (?:\w+ )?(?:kid|child|teen\w*|student|boy|girl)|used to|previously|formerly|at (?:the )?age|back then"
    r"|at the time|in (?:my|their|the) (?:childhood|youth|teens|twenties|thirties|college|student|\d\ds)"
    r"|during (?:college|school|university))\b"
    "|去年|前年|年前|小时候|以前|之前|从前|曾|当时|那时|那年|的时候|年轻时|岁时",
    re.IGNORECASE,
)
_YEAR = regex(r"(?<!since )(?<![\d.,-])((?:19|20)\d\d)(?![\d.,]*\d|-\d)(?!年?(?:以来|起|开始|至今))")
_SET_IN = regex(
    r"(?:and |but |so |well |oh )?(?:(?:back )?in (?:[a-z]+ |the (?:early |late |mid )?)?(?:19|20)?\d\ds?"
    r"|(?:back )?when I was [^,.]{1,40}|as an? (?:\w+ )?(?:kid|child|teen\w*|student|boy|girl)|back then"
    rf"|for {_SOME} {_SPAN}|(?:for|over|during) the [a-z]+|last (?:year|summer|winter)|(?:\w+ )?\w+ years? ago"
    rf"|this (?:summer|winter|spring|autumn|fall|semester|term)|next {_SEASON}|until [^,.]{{1,30}}|in my [a-z]+)",
    re.IGNORECASE,
)
_LIMITED_TO = regex(
    r"(?:and |but |though |although )?(?:it's |that's |this is )?(?:only |just )?(?:"
    rf"for (?:{_SOME}|the|now|this|next)\b(?: [\w]+){{0,3}}|temporarily|until [^,.]{{1,30}}|back in (?:19|20)\d\d"
    r"|in (?:19|20)\d\d|when I was [^,.]{1,40}|(?:\w+ )?\w+ years? ago)",
    re.IGNORECASE,
)
_SET_IN_CHINESE = regex(
    "(?:在)?(?:(?:19|20)\\d\\d年(?:\\d{1,2}月)?(?:的时候|时|那年)?|小时候|以前|从前|当时|那时候?|去年|前年|年轻时"
    "|[几一二两三四五六七八九十多\\d]+年前|我?[一二两三四五六七八九十\\d]+岁(?:时|的时候|那年)|明年|暂时|临时"
    "|(?:上?大学|高中|初中|小学|工作)(?:时|期间|的时候)|(?:这个?|今年|去年)?(?:暑假|寒假|夏天|冬天|学期)(?:期间|里)?)"
)
_LIMITED_TO_CHINESE = regex(
    "(?:不过|但是?|而且)?(?:只是|就|只)?(?:暂时|临时|短期|(?:住|待|呆)(?:到|[一二两三四五六七八九十几半\\d])"
    "|(?:这个?|一个)?(?:暑假|寒假|夏天|冬天|学期))[^，。]{0,10}"
)
_MARKS = " ,.!;:，。！；：…"


def for_a_time(text: str) -> bool:
    """Whether a statement is said of a while that ends, or of a part of the time."""
    return _FOR_A_TIME.search(text) is not None


def of_earlier(text: str, year: int | None) -> bool:
    """Whether a statement is said of an earlier time than `year`, the one in which it was said; None: any year may be."""
    if _EARLIER.search(text) is not None:
        return True
    return any(year is None or int(found[1]) < year for found in _YEAR.finditer(text))


def of_another_time(text: str, year: int | None) -> bool:
    """Whether a statement is said of a while that ends, or of an earlier time than `year`."""
    return for_a_time(text) or of_earlier(text, year)


def set_in(before: str) -> str:
    """The time in which the next clause is set, where a clause says nothing else: "In 2010"; else an empty string."""
    said = before.strip(_MARKS)
    whole = _SET_IN.fullmatch(said) or _SET_IN_CHINESE.fullmatch(said)
    return said if whole else ""


def limited_to(after: str) -> str:
    """The time to which the clause before is limited, where a clause says nothing else: "but only for the summer"."""
    said = after.strip(_MARKS)
    whole = _LIMITED_TO.fullmatch(said) or _LIMITED_TO_CHINESE.fullmatch(said)
    return said if whole else ""
