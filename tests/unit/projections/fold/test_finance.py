"""Finance has the level that the owner's parameter says, from its event on; without it rules decide as ever."""

from __future__ import annotations

from engramlog_server.events.catalogue import ParametersChanged, SensitivitySet
from engramlog_server.projections.language.sensitivity.personal import tells_of_money
from tests.given.events import Told, created, folded, merged, revised
from tests.rows import each_row

DEBT = "I owe the bank 30,000 euros."


def published(least: int, day: float = 0) -> Told:
    return Told(ParametersChanged(parameters={"finance_sensitivity": least}), day, "operator")


def level(*events: Told, of: str = "m") -> int:
    return folded(*events).memories[of].sensitivity


@each_row(("least", "text", "found"), [
    (0, DEBT, 0), (2, DEBT, 2), (3, DEBT, 3), (3, "My salary is 85,000 dollars a year.", 3),
    (3, "I like coffee.", 0), (1, "My password is hunter2-Xq9!", 3),
])  # fmt: skip
def test_what_tells_of_money_has_at_least_the_level_of_the_parameter(least: int, text: str, found: int) -> None:
    assert level(published(least), created(text, day=1)) == found


def test_only_what_is_written_from_then_on_is_raised() -> None:
    assert level(created(DEBT), published(3, 1)) == 0
    assert level(created("I like tea.", day=0), published(3, 1), revised(DEBT, day=2)) == 3


def test_a_merge_of_money_is_raised_too() -> None:
    told = (created("We agreed.", "a", 0), created("I signed.", "b", 0), published(3, 1))
    assert level(*told, merged("a", "b", into="c", day=2, summary=DEBT), of="c") == 3


def test_what_a_person_set_lower_stays_lower() -> None:
    down = Told(SensitivitySet(memory_id="m", level=0, reason="out of a novel"), 2, "user")
    assert level(published(3), created(DEBT, day=1), down) == 0


@each_row("text", [
    "I have 12,000 euros in my savings account.", "My rent is $1,450.", "I lost 8,000 on shares.", "We went bankrupt in 2019.",
    "My mortgage is 250k.", "我炒股亏过八万，现在只买国债。", "我存款有30万。", "我欠银行二十万房贷。", "一个月租金两万八台币。",
    "公司负债累累。",
])  # fmt: skip
def test_savings_debts_and_shares_tell_of_money(text: str) -> None:
    assert tells_of_money(text)


@each_row("text", [
    "", "I borrowed 3 books from the library.", "I invested a lot of time since 2019.", "Two people shared a boat.",
    "The bank of the river is steep.", "I walk 10,000 steps.", "我借了三本书。", "我欠他一个人情。", "保险柜在二楼。",
])  # fmt: skip
def test_other_uses_of_these_words_do_not(text: str) -> None:
    assert not tells_of_money(text)
