"""What the user says again after it was taken back: after a deletion it waits for him, after a plain negation it holds again."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.events.envelope import from_micros, utc_text
from tests.acceptance.trust.doors import READERS, Doors, Reads, Refused, rebuilt, silent_about
from tests.acceptance.trust.doors import doors as opened
from tests.given.http import created, event

SAID = {
    "in English": ("I live in Lisbon.", "where do I live", "Lisbon"),
    "in Chinese": ("我住在里斯本。", "我住在哪里", "里斯本"),
}


def told(doors: Doors, owner: str, text: str, reader: Reads) -> None:
    doors.say("client", owner, text)
    doors.extract(owner, reader)


def statement(doors: Doors, owner: str, word: str, mode: str = "normal") -> str | None:
    found = doors.memories(owner, mode).items()
    return next((one for one, text in found if word in text and not one.startswith("s-")), None)


def statements(doors: Doors, owner: str) -> list[str]:
    return [text for one, text in doors.memories(owner).items() if one.startswith("m-")]


def inbox(doors: Doors, owner: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = doors.app.inbox.page(owner, limit=100)["items"]
    return items


def deleted_and_said_again(doors: Doors, language: str, reader: Reads) -> tuple[str, dict[str, Any]]:
    owner, (text, asked, word) = doors.owner(), SAID[language]
    told(doors, owner, text, reader)
    first = statement(doors, owner, word)
    assert first is not None
    doors.delete(owner, first, with_sources=True)
    assert inbox(doors, owner) == []
    told(doors, owner, text, reader)
    [item] = inbox(doors, owner)
    assert (item["kind"], item["memory"]) == ("readmission", None)
    assert word in item["would_say"]
    assert silent_about(doors.told(owner, asked), [word]) == []
    return owner, item


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("language", SAID)
def test_after_a_deletion_it_waits_until_he_accepts_it(doors: Doors, language: str, reader: Reads) -> None:
    owner, item = deleted_and_said_again(doors, language, reader)
    doors.accept(owner, item["item"])
    _, asked, word = SAID[language]
    assert statement(doors, owner, word) == item["memory_id"]
    assert set(silent_about(doors.told(owner, asked), [word])), "it is told again"
    assert inbox(doors, owner) == []
    assert doors.app.reader.get(owner, item["memory_id"])["trust"] == "asserted"


def test_rejected_it_waits_no_longer_and_said_once_more_it_waits_again(doors: Doors) -> None:
    owner, item = deleted_and_said_again(doors, "in English", "rules")
    doors.command("inbox", "--reject", owner, item["item"])
    assert inbox(doors, owner) == []
    text, asked, word = SAID["in English"]
    assert silent_about(doors.told(owner, asked), [word]) == []
    told(doors, owner, text, "rules")
    [again] = inbox(doors, owner)
    assert again["item"] != item["item"]


def test_in_other_words_it_is_another_value(doors: Doors) -> None:
    owner, item = deleted_and_said_again(doors, "in English", "rules")
    doors.command("inbox", owner, item["item"], "I live near Lisbon")
    assert "I live near Lisbon" in doors.memories(owner).values()
    told(doors, owner, SAID["in English"][0], "rules")
    assert [one["kind"] for one in inbox(doors, owner)] == ["readmission"], "what was rejected still is"


def test_once_answered_the_key_tells_it_again(doors: Doors) -> None:
    owner, item = deleted_and_said_again(doors, "in English", "rules")
    first = doors.command("inbox", "--accept", owner, item["item"], "--key", "once")
    assert doors.command("inbox", "--accept", owner, item["item"], "--key", "once")["position"] == first["position"]


def test_what_others_say_or_was_said_before_waits_for_nobody(doors: Doors) -> None:
    """The control: an agent's word, an imported record, and talk of before the deletion."""
    owner = doors.owner()
    first = doors.remember("http", owner, "I live in Lisbon")
    doors.delete(owner, first)
    doors.tell(owner, created("agent", "I live in Lisbon", owner=owner, source="assistant") | {"actor": "assistant"})
    doors.say("http", owner, "I live in Lisbon.")  # an hour ago
    doors.extract(owner, "rules")
    assert inbox(doors, owner) == []
    now = utc_text(from_micros(doors.app.log.now()))
    doors.tell(owner, created("own", "I live in Lisbon", owner=owner) | {"occurred_at": now})
    assert [one["memory_id"] for one in inbox(doors, owner)] == ["own"], "a raw event in his own name does"


def test_it_waits_after_a_rebuild_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("again")
    with opened(folder) as of:
        owner, item = deleted_and_said_again(of, "in English", "rules")
    rebuilt(folder)
    with opened(folder) as anew:
        assert inbox(anew, owner) == [item]


@pytest.mark.parametrize("language", SAID)
def test_after_a_plain_negation_it_holds_again_unless_set_otherwise(doors: Doors, language: str) -> None:
    text, _, word = SAID[language]
    for strict in (False, True):
        owner = doors.owner()
        if strict:
            doors.tell(owner, event("ParametersChanged", owner=owner, parameters={"talk_reaffirms": False}))
        told(doors, owner, text, "rules")
        first = statement(doors, owner, word)
        assert first is not None
        doors.negate(owner, first)
        assert statement(doors, owner, word) is None
        told(doors, owner, text, "rules")
        assert (statement(doors, owner, word) is None) == strict
        waiting = inbox(doors, owner)
        assert [one["kind"] for one in waiting] == (["reaffirmation"] if strict else [])
        for one in waiting:
            assert word in one["memory"]
            doors.accept(owner, one["item"])
        assert statement(doors, owner, word) is not None
        assert inbox(doors, owner) == []


@pytest.mark.parametrize("reader", READERS)
def test_what_an_agent_records_as_his_talk_takes_back_no_negation_of_his_own(doors: Doors, reader: Reads) -> None:
    owner = doors.owner()
    told(doors, owner, "I live in Lisbon.", reader)
    first = statement(doors, owner, "Lisbon")
    assert first is not None
    doors.negate(owner, first)
    doors.say("mcp", owner, "I live in Lisbon.")
    doors.extract(owner, reader)
    assert statements(doors, owner) == []
    [item] = inbox(doors, owner)
    assert item["kind"] == "reaffirmation"
    doors.command("inbox", "--reject", owner, item["item"])
    assert inbox(doors, owner) == []
    doors.say("client", owner, "I live in Lisbon.")
    doors.extract(owner, reader)
    assert statements(doors, owner), "his own word"


def test_where_the_id_was_taken_meanwhile_his_word_is_kept_under_another(doors: Doors) -> None:
    owner, item = deleted_and_said_again(doors, "in English", "rules")
    doors.command("add", owner, "I own a boat", "--id", item["memory_id"])
    doors.accept(owner, item["item"])
    assert {"I own a boat", item["would_say"]} <= set(statements(doors, owner))


def test_one_key_stands_for_one_answer(doors: Doors) -> None:
    owner, item = deleted_and_said_again(doors, "in English", "rules")
    doors.command("inbox", "--accept", owner, item["item"], "--key", "k")
    with pytest.raises(Refused, match="something else was said under this one"):
        doors.command("inbox", "--reject", owner, item["item"], "--key", "k")


def reaffirmed_by_an_agent(doors: Doors) -> tuple[str, str, str]:
    owner = doors.owner()
    first = doors.remember("http", owner, "I like coffee")
    doors.negate(owner, first)
    doors.call(owner, "reinforce_memory", memory_id=first, outcome="confirmed")
    [item] = inbox(doors, owner)
    return owner, first, str(item["item"])


def test_what_he_negated_holds_again_in_his_own_words(doors: Doors) -> None:
    owner, first, item = reaffirmed_by_an_agent(doors)
    doors.command("inbox", owner, item, "I like decaf")
    assert doors.memories(owner) == {first: "I like decaf"}
    assert inbox(doors, owner) == []


@pytest.mark.parametrize(
    "how", [("--actor", "operator"), ("--occurred-at", "2020-01-01T00:00:00Z")], ids=["operator", "past"]
)
def test_that_he_says_it_again_nobody_says_for_him_nor_as_of_before(doors: Doors, how: tuple[str, str]) -> None:
    owner, _, item = reaffirmed_by_an_agent(doors)
    with pytest.raises(Refused, match=r"user: only the user confirms|none: what waits"):
        doors.command("inbox", "--accept", owner, item, *how)
    assert len(inbox(doors, owner)) == 1, "it still waits"


def test_a_proposal_amended_to_its_own_words_is_his(doors: Doors) -> None:
    owner = doors.owner()
    doors.tell(
        owner,
        created("p", "I like jazz", owner=owner, source="assistant") | {"actor": "assistant", "trust": "proposed"},
    )
    doors.command("inbox", owner, "p", "I like jazz")
    assert (doors.memories(owner), inbox(doors, owner)) == ({"p": "I like jazz"}, [])


def test_statements_that_name_a_turn_nobody_knows_take_back_no_negation_of_his_own_and_wait_as_one(
    doors: Doors,
) -> None:
    owner = doors.owner()
    first = doors.remember("http", owner, "I like coffee")
    doors.negate(owner, first)
    for number in range(3):
        told = created(f"n{number}", "I like coffee", owner=owner, source="judge", source_turns=["no-such-turn"])
        now = utc_text(from_micros(doors.app.log.now()))
        doors.tell(owner, told | {"actor": "assistant", "occurred_at": now})
    assert doors.memories(owner) == {}
    assert [one["kind"] for one in inbox(doors, owner)] == ["reaffirmation"]


def test_an_agent_that_says_he_said_it_again_takes_back_no_negation_of_his_own(doors: Doors) -> None:
    owner = doors.owner()
    first = doors.remember("http", owner, "I like coffee")
    doors.negate(owner, first)
    doors.call(owner, "reinforce_memory", memory_id=first, outcome="confirmed")
    assert first not in doors.memories(owner)
    [item] = inbox(doors, owner)
    assert (item["kind"], item["memory"], item["would_say"]) == ("reaffirmation", "I like coffee", None)
    told_agent = doors.call(owner, "reinforce_memory", memory_id=first, outcome="confirmed")["message"]
    assert "waits" in told_agent
    doors.accept(owner, item["item"])
    assert first in doors.memories(owner)


IN_OTHER_LETTERS = {
    ("I have a cousin called Marisol.", "Marisol"): (
        "\uff29 have a cousin called Marisol.",
        "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else "\u3000" for one in "I have a cousin called Marisol."),
        "I have a \uff43ousin called Mariso\uff4c.",
        "\u0406 have a cousin called Marisol.",
        "I h\u0430ve a cousin called Marisol.",
        "\u0399 have a cousin called \u039carisol.",
        "i have  a cousin called MARISOL",
        "I HAVE A COUSIN CALLED MARISOL.",
        "I have a cous\u200bin called Marisol\u3002",
        "I have a cou\u00adsin called Mari\u2060sol",
        "I\u00a0have a cousin\u3000called Marisol!",
        "I\u2800have\u2800a\u2009cousin called\u1680Marisol",
        "\U0001f178 have a cousin called Marisol.",
        "\U0001d408 \U0001d421ave a \u24d2ousin called Marisol.",
        "\u026a \u029c\u1d00\u1d20\u1d07 \u1d00 \u1d04\u1d0f\u1d1c\ua731\u026a\u0274 called Marisol",
        "".join(f"{one}\u0336" for one in "I have a cousin called Marisol."),
        "I have a\u20e3 **cousin** called _Marisol_.",
        "I have \U0001f600 a cousin \u2764\ufe0f called Marisol. \U0001f389",
        "By the way, I have a cousin called Marisol!",
    ),
    ("我有个表妹叫馬麗紅。", "紅"): (
        "我有个表妹叫马丽红。",
        "我有個表妹叫馬麗紅",
        "我 有\u3000个 表 妹 叫 马 丽 红",
        "我有\u200b个表妹叫马丽\ufe0f红！",
        "我有个\U0001f600表妹叫马丽红。",
        "我有个表妹叫\u2ee2丽红。",
        "我有个表妹叫馬\uf988紅。",
        "对了，我有个表妹叫马丽红！",
    ),
}


def test_a_deleted_statement_in_other_letters_stays_away(doors: Doors) -> None:
    """Letters that look alike, widths, case, spaces, signs and emoji make no other value of it, in another conversation too."""
    live = []
    for (text, word), again in IN_OTHER_LETTERS.items():
        owner = doors.owner()
        told(doors, owner, text, "rules")
        first = statement(doors, owner, word)
        assert first is not None
        doors.delete(owner, first, with_sources=True)
        for other in again:
            told(doors, owner, other, "rules")
            shown = {**doors.memories(owner), **doors.memories(owner, "review")}
            for memory_id in shown:
                doors.delete(owner, memory_id)
            live += [ascii(other)] if shown else []
    assert live == []


def test_a_deleted_statement_stays_away_on_another_day(doors: Doors) -> None:
    """The day that extraction adds to what passes is no part of what is rejected."""
    for text, word in (("My rabbit Pip is nine.", "Pip"), ("我有个表妹叫马丽红。", "马丽红")):
        owner = doors.owner()
        before = utc_text(from_micros(doors.app.log.now() - 3 * 86_400_000_000))
        turn = event("TurnRecorded", owner=owner, turn_id="before", text=text, role="user") | {"occurred_at": before}
        doors.tell(owner, turn)
        doors.extract(owner, "rules")
        first = statement(doors, owner, word)
        assert first is not None
        doors.delete(owner, first, with_sources=True)
        told(doors, owner, text, "rules")
        assert doors.memories(owner, "review") == {}
        assert [one["kind"] for one in inbox(doors, owner)] == ["readmission"]
