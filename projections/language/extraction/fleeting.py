"""What is said of a person and passes with the hour, or is no fact of his: how a program is made, what one will do tonight."""

from __future__ import annotations

import re

from engramlog_server.projections.language.extraction.english_words import DAY
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH

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
