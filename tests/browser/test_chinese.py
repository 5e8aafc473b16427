"""In the Chinese console the service speaks Chinese: each known code has words, and no screen has English prose but marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args
from urllib.parse import quote

import pytest

from engramlog_server.api.parameters import LAWS, laws, parameters
from engramlog_server.api.pictures import words as picture_words
from engramlog_server.consumers.jobs.run import JOBS
from engramlog_server.consumers.jobs.schedule import WHAT
from engramlog_server.events import errors, validation, vocabulary
from engramlog_server.events.alarms import KNOWN, Severity
from engramlog_server.events.catalogue import EVENT_TYPES, Looked
from engramlog_server.projections.access.caller import VERBS
from engramlog_server.projections.choices import VERBS_OF_ACCESS
from engramlog_server.projections.fold.changelog import DECISIONS, REASONS
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.laws.modes import REASONS as WITHHELD_FOR
from engramlog_server.projections.memory.columns import STATES, STATUSES
from engramlog_server.projections.reports.strikes import KINDS as STRUCK_FOR
from engramlog_server.projections.views.event_words import WHY, mark
from engramlog_server.projections.views.view import WITHHELD
from tests.browser.pages import Console, place
from tests.browser.service import Service
from tests.browser.story import OWNER, STRANGE
from tests.browser.test_screens import SCREENS
from tests.browser.test_words import pairs
from tests.rows import each_row

Opens = Callable[..., Console]
HAN = re.compile(r"[\u4e00-\u9fff]")
ERRORS = [
    name
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, errors.EngramlogError) and not name.startswith("_")
]
CODES: dict[str, Iterable[str]] = {
    "decision": DECISIONS,
    "event": EVENT_TYPES,
    "actor": get_args(vocabulary.Actor),
    "source": get_args(vocabulary.Source),
    "category": get_args(vocabulary.Category),
    "tier": get_args(vocabulary.Tier),
    "level": get_args(vocabulary.Level),
    "trust": get_args(vocabulary.Trust),
    "outcome": get_args(vocabulary.Outcome),
    "memory.negate.resolution": get_args(vocabulary.Resolution),
    "face": get_args(vocabulary.Face),
    "status": [*STATUSES, *STATES],
    "reason": (*WITHHELD_FOR, "long_ago"),
    "mode": MODES,
    "mark": [*WHY, WITHHELD[len(mark("")) - 1 : -1]],
    "law": LAWS,
    "why": REASONS,
    "because": STRUCK_FOR,
    "job": [*JOBS, *(f"{name}.what" for name in JOBS)],
    "use": [one.asks_for for one in JOBS.values() if one.asks_for],
    "alarm": [*KNOWN, *(f"{name}.what" for name in KNOWN)],
    "operate.alarm": get_args(Severity),
    "operate.job": ("running", "again", "failed", "queued"),
    "parameter": [one["name"] for one in parameters()["parameters"]],
    "error": ERRORS,
    "verb": VERBS,
    "verb-what": VERBS,
    "looked": get_args(Looked),
}
"""What begins the words of a list -> the list, as the product has it."""


def test_what_each_verb_lets_do_is_told_as_the_product_says_it() -> None:
    known = pairs()
    assert {verb: known[f"verb-what.{verb}"][0][1:-1] for verb in VERBS} == dict(VERBS_OF_ACCESS)
    assert [verb for verb in VERBS if known[f"verb.{verb}"][0] != f'"{verb}"'] == []


@each_row("beginning", CODES)
def test_every_code_that_the_service_tells_has_words_in_both_languages(beginning: str) -> None:
    known = pairs()
    names = list(CODES[beginning])
    assert names
    assert [name for name in names if f"{beginning}.{name}" not in known] == []
    wrong = [name for name in names if not HAN.search(known[f"{beginning}.{name}"][1])]
    assert [name for name in wrong if (beginning, name) != ("face", "http")] == []


def test_what_the_board_tells_of_jobs_are_all_jobs_that_are() -> None:
    assert set(WHAT) == set(JOBS)


def english(key: str) -> str:
    return _text(pairs()[key][0])


def _text(literal: str) -> str:
    return str(re.sub(r'\\(["\\])', r"\1", literal[1:-1]))


def test_the_english_of_the_service_s_sentences_is_what_the_service_says() -> None:
    assert {code: english(f"why.{code}") for code in REASONS} == dict(REASONS)
    told = {one["name"]: one["help"] for one in parameters()["parameters"]}
    assert {name: english(f"parameter.{name}") for name in told} == told
    meant = {name: one.meaning for name, one in KNOWN.items()}
    assert {name: english(f"alarm.{name}.what") for name in KNOWN} == meant
    assert {name: english(f"job.{name}.what") for name in JOBS} == dict(WHAT)
    factors = {f"law.{law['name']}.{name}": said for law in laws()["laws"] for name, said in law["factors"].items()}
    assert {key: english(key) for key in factors} == factors


def test_pictures_say_every_reason_in_chinese_with_its_values() -> None:
    sentences = {code: re.sub(r"\{(\w+)\}", "fact", text) for code, text in REASONS.items()}
    told = {code: picture_words.chinese_reason(text) for code, text in sentences.items()}
    assert [code for code in told if told[code] == sentences[code] or "{" in told[code]] == []
    assert picture_words.chinese_reason("negated, version_keep") == "已否定，方式：保留两个版本"
    assert picture_words.chinese_reason("because I say so") == "because I say so"


def test_what_the_validating_library_may_refuse_has_words() -> None:
    forms = {re.sub(r"\{\w+\}", "{}", english(key)) for key in pairs() if key.startswith("allowed.")}
    said = {*validation._PLAIN.values(), "a list", "an object", validation.OTHER}
    said |= {re.sub(r"\{\w+\}", "{}", rule) for rule in validation._RULES.values() if not rule.startswith("{expected")}
    left = {"a text of JSON", "bytes", "JSON ({})", "a multiple of {}", "a text of the form {}", "names that are texts"}
    rare = {one for one in said if re.search("nested less|hold itself|a UUID|without a time zone", one)}
    assert said - rare - left - forms == set()


FIND = """() => {
  const found = [];
  const skipped = 'script,style,noscript,code,[lang="en"]';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement && !node.parentElement.closest(skipped)) found.push(node.data);
  }
  const names = ["title", "aria-label", "placeholder", "alt", "aria-valuetext"];
  for (const element of document.querySelectorAll(names.map((name) => `[${name}]`).join(","))) {
    if (!element.closest(skipped)) for (const name of names) if (element.hasAttribute(name)) found.push(element.getAttribute(name));
  }
  return found;
}"""
"""Every text of the page, and of its names for those who do not see it, but for code and what is marked as English."""
PHRASE = re.compile(r"[A-Za-z][A-Za-z'’-]*(?:[,;]?\s+[A-Za-z][A-Za-z'’-]*)+")
"""Two words of Latin letters and more."""
TELLING = {"content", "text", "summary", "correction", "because", "keywords", "tags", "speaker"}
"""Fields of events that hold what people said, whoever sends them; of reasons only those of people do."""


def _strings(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _strings(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one, name)
    elif isinstance(value, str):
        yield name, value


def said(service: Service) -> str:
    """All that people said in the story, and words taken from it; in the console these stand as they are."""
    told = [OWNER, STRANGE, "lin"]
    for owner in (OWNER, STRANGE, "lin"):
        at = f"/v1/owners/{quote(owner, safe='')}"
        for event in service.ask(f"{at}/events?limit=1000")["events"]:
            person = event["actor"] in ("user", "assistant")
            told += [text for name, text in _strings(event["data"]) if name in TELLING or (person and name == "reason")]
        drawn = service.ask(f"{at}/map?mode=review")
        told += [cluster["label"] for cluster in drawn["clusters"]]
        told += [", ".join(reason["keywords"]) for edge in drawn["edges"] for reason in edge["reasons"]]
    told += [one["reason"] for one in service.ask("/v1/access")["events"]]
    found = service.ask(f"/v1/owners/{OWNER}/search?query={quote('早上喝咖啡')}&mode=review&trace=false")
    told.append(", ".join(word for words in found["expanded"]["synonyms"].values() for word in words))
    return " ".join(" | ".join(told).split())


def prose(texts: Iterable[str], content: str) -> list[str]:
    """Phrases of the page in English that nobody said and that stand in no Chinese words of the console."""
    ours = " | ".join(_text(other) for _, other in pairs().values())
    phrases = {" ".join(phrase.split()) for text in texts for phrase in PHRASE.findall(text)}
    return sorted(one for one in phrases if one not in content and one not in ours)


@pytest.mark.parametrize("name", SCREENS)
def test_no_screen_has_english_prose_of_the_service_s_own(name: str, page_of: Opens, story: Service) -> None:
    console = page_of(SCREENS[name].to, chinese=True)
    console.page.wait_for_selector(SCREENS[name].holds)
    console.settled()
    texts = console.page.evaluate(FIND)
    assert len(texts) > 10
    assert prose(texts, said(story)) == []


DIALOGS = {
    "an event": (place(OWNER, "memory", "coffee"), ".changes button"),
    "negating": (place(OWNER, "memory", "m-studio"), "button:has-text('否定')"),
    "deleting": (place(OWNER, "memory", "m-studio"), "button.danger"),
}


@pytest.mark.parametrize("name", DIALOGS)
def test_no_window_has_english_prose_of_the_service_s_own(name: str, page_of: Opens, story: Service) -> None:
    to, opener = DIALOGS[name]
    console = page_of(to, chinese=True)
    console.page.locator(opener).first.click()
    console.page.wait_for_selector("dialog[open]")
    console.settled()
    assert prose(console.page.evaluate(FIND), said(story)) == []


@pytest.mark.parametrize(
    ("to", "status", "words"),
    [
        (place(OWNER, "memories", as_of="someday"), 422, "所填内容被拒绝"),
        (place(OWNER, "memory", "nobody-knows-it"), 404, "不存在"),
    ],
)
def test_a_refusal_is_told_in_chinese_and_the_service_s_words_are_marked(
    to: str, status: int, words: str, page_of: Opens, story: Service
) -> None:
    console = page_of(place(OWNER, "proof"), chinese=True)
    console.allowed.add(status)
    console.go(to)
    console.says(re.compile(words))
    console.settled()
    assert prose(console.page.evaluate(FIND), said(story)) == []


def test_a_refusal_whose_allowed_is_known_is_told_without_the_service_s_words(page_of: Opens) -> None:
    console = page_of(place(OWNER, "map"), chinese=True)
    console.allowed.add(422)
    console.go(place(OWNER, "map", limit="5000"))
    console.says("1 至 1000 的整数")
    assert console.page.locator(".problem [lang=en]").count() == 0
