"""Whether a statement is negated, whether two are opposed, and whether two say the same."""

from __future__ import annotations

from engramlog_server.projections.language.similar import difference, opposite, polarity, speaks_from_its_day, wording
from tests.rows import each_row

POLARITIES = [
    (1, "I like coffee"), (-1, "I don't like coffee"), (-1, "I don’t like coffee"), (-1, "I dont like coffee"),
    (-1, "I do not like coffee"), (-1, "I CANNOT sleep"), (-1, "I no longer smoke"), (-1, "I never eat meat"),
    (-1, "I hate mornings"), (-1, "She dislikes mornings"), (-1, "I stopped smoking"), (-1, "I gave up sugar"),
    (-1, "I drink coffee without sugar"), (-1, "I rarely drink"), (-1, "I eat neither meat nor fish"),
    (1, "I don't hate coffee"), (1, "Don't forget the keys"), (1, "I never go out without my keys"),
    (1, "Not only cats, also dogs"), (1, "I can't wait to see Lisbon"), (1, "No, I moved to Berlin"),
    (1, "No problem, I live in Berlin"), (1, "You live in Berlin, don't you?"), (1, "My room is No. 5"),
    (1, "I know a notable knot"), (1, "我喜欢咖啡"), (-1, "我不喜欢咖啡"), (-1, "我没去过北京"), (-1, "我没有养猫"),
    (-1, "我從來沒去過"), (-1, "别给我打电话"), (-1, "我讨厌早起"), (-1, "我戒烟了"), (-1, "我再也不喝酒了"),
    (-1, "我受不了辣"), (-1, "我不过敏"), (-1, "我不同意"), (-1, "只要不下雨就去"), (1, "我不是不喜欢咖啡"),
    (1, "没有人不喜欢咖啡"), (1, "我不得不去"), (1, "这家店很不错"), (1, "我非常喜欢特别的咖啡"), (1, "你是不是住在上海"),
    (1, "你喜不喜欢咖啡？"), (1, "你吃了没？"), (1, "我不但喝茶，不过也喝咖啡"), (1, "我住在无锡"), (1, "难忘的旅行"),
    (1, "船沉没了"), (1, "戒指在抽屉里"), (1, ""),
]  # fmt: skip


@each_row(("expected", "text"), POLARITIES, ids=[text for _, text in POLARITIES])
def test_a_statement_is_turned_round_by_each_word_that_negates_it(expected: int, text: str) -> None:
    assert polarity(text) == expected


OPPOSED = [
    ("I like coffee", "I don't like coffee"), ("I like coffee", "I hate coffee"),
    ("I like coffee", "I like coffee no longer"), ("I always eat breakfast", "I never eat breakfast"),
    ("The office is hot", "The office is cold"), ("The boy is sitting down", "The boy is standing down"),
    ("I am happy with my job", "I am unhappy with my job"), ("I agree with Tom", "I disagree with Tom"),
    ("Call me before lunch", "Call me after lunch"), ("I take coffee with sugar", "I take coffee without sugar"),
    ("Lights on at night", "Lights off at night"), ("我喜欢早上喝咖啡", "我不喜欢早上喝咖啡"), ("我喜欢咖啡", "我讨厌咖啡"),
    ("我有一只猫", "我没有猫"), ("我已婚", "我未婚"), ("我抽烟", "我戒烟了"), ("办公室很热", "办公室很冷"),
    ("我同意这个计划", "我反对这个计划"), ("我结婚了", "我离婚了"),
]  # fmt: skip
NOT_OPPOSED = [
    ("I like coffee", "I like coffee"), ("I hate coffee", "I don't like coffee"), ("I like coffee", "I don't hate coffee"),
    ("The office is hot", "The office is not cold"), ("It gets hot and cold here", "It gets hot here"),
    ("I moved to Berlin", "I moved to Munich"), ("I am not single", "I am married"), ("我讨厌咖啡", "我不喜欢咖啡"),
    ("办公室很热", "办公室不冷"), ("我住在北京", "我住在上海"), ("", ""),
]  # fmt: skip


@each_row(("a", "b"), OPPOSED)
def test_statements_are_opposed_by_a_negation_or_an_antonym(a: str, b: str) -> None:
    assert (opposite(a, b), opposite(b, a)) == (True, True)


@each_row(("a", "b"), NOT_OPPOSED)
def test_a_negated_antonym_turns_a_statement_back(a: str, b: str) -> None:
    assert (opposite(a, b), opposite(b, a)) == (False, False)


SAME = [
    ("I don't eat meat", "I do not eat meat."), ("I DON’T EAT MEAT", "i dont eat meat"), ("I can't swim", "I cannot swim"),
    ("I've been to Japan", "I have been to Japan"), ("Yes, I moved", "I moved"), ("It's my birthday", "It is my birthday"),
    ("I am a nurse at the hospital", "I'm nurse at hospital"), ("I really like jazz", "I like jazz very"),
    ("Run the tests before every commit", "Before every commit, run the tests"), ("I have three cats", "I have 3 cats"),
    ("Call me at 3 p.m.", "Call me at 3pm"), ("It cost 1,000 dollars", "It cost 1000 dollars"),
    ("ｉ ｌｉｋｅ ｊａｚｚ", "I like jazz"), ("我对花生过敏。", "我对花生过敏的"), ("我的妹妹住在上海", "我妹妹住在上海！"),
    ("我最喜欢的电影是《霸王别姬》", "我最喜欢的一部电影是《霸王别姬》"), ("我很喜欢猫", "我非常喜欢猫啊"),
    ("我有三只猫", "我有3只猫"), ("每周一开会", "每周1开会"), ("我二十三岁", "我23岁"), ("工资三千五百元", "工资3500元"),
    ("房租十二万", "房租120000"), ("二〇二三年十二月一日", "2023年12月1日"), ("", "!!"),
]  # fmt: skip


@each_row(("a", "b"), SAME)
def test_statements_are_the_same_up_to_what_says_nothing(a: str, b: str) -> None:
    assert (difference(a, b), sorted(wording(a))) == (None, sorted(wording(b)))


APART = [
    ("Meeting at 3pm", "Meeting at 4pm", "different numbers or dates: 3 / 4"),
    ("Meeting at 3pm", "Meeting at 3am", "different numbers or dates: pm / am"),
    ("I have cats", "I have two cats", "different numbers or dates: - / 2"),
    ("We run version 2.3.1", "We run version 2.3.2", "different numbers or dates: 2.3.1 / 2.3.2"),
    ("It is 5 degrees", "It is -5 degrees", "different numbers or dates: 5 / -5"),
    ("It cost $50", "It cost €50", "different numbers or dates: $50 / €50"),
    ("I fly in May", "I fly in June", "different numbers or dates: may / june"),
    ("我有三只猫", "我有四只猫", "different numbers or dates: 3 / 4"),
    ("周一开会", "周三开会", "different numbers or dates: 1 / 3"),
    ("今天开会", "明天开会", "different numbers or dates: 今 / 明"),
    ("来了三五个人", "来了35个人", "different numbers or dates: 三 五 / 35"),
    ("I met Anna", "I met Bella", "different names: anna / bella"),
    ("I live in York", "I live in New York", "different names: - / new"),
    ("I went to the beach", "I went to the lake", "different words: beach / lake"),
    ("I am allergic to nuts", "I am allergic to pine nuts", "different words: - / pine"),
    ("I live in Berlin", "I want to live in Berlin", "different words: - / want to"),
    ("I work at Acme", "I worked at Acme", "different words: work / worked"),
    ("I have a dog", "I had a dog", "different words: have / had"),
    ("I moved out", "I almost moved out", "different words: - / almost"),
    ("Oh, yes", "Hey please", "different words: yes / please"),
    ("My answer is yes", "My answer is", "different words: yes / -"),
    ("I have few friends", "I have a few friends", "different words: - / a"),
    ("I have few friends", "I have very few friends", "different words: - / very"),
    ("I don't like it", "I don't really like it", "different words: - / really"),
    ("My sister sings", "My sisters sing", "different words: sister sings / sisters sing"),
    ("He likes tea", "She likes tea", "different words: he / she"),
    ("I lack vitamins", "I lack vitamin A", "different words: vitamins / vitamin a="),
    ("I take vitamin A daily", "I take vitamin daily", "different words: a= / -"),
    ("Do you like tea?", "You like tea", "different words: ? / -"),
    ("Edit main.py", "Edit main.pyc", "different words: main.py / main.pyc"),
    ("x == y", "x != y", "different words: == / !="), ("I write C", "I write C++", "different names: c / c++"),
    ("I feel 😀", "I feel 😢", "different words: 😀 / 😢"),
    ("Tom owes Ann money", "Ann owes Tom money", "the same words in another order"),
    ("I moved from Berlin to Munich", "I moved from Munich to Berlin", "the same words in another order"),
    ("I like tea but not milk", "I like milk but not tea", "the same words in another order"),
    ("我住在北京", "我住在上海", "different words: 北 京 / 上 海"), ("我去北京", "我想去北京", "different words: - / 想"),
    ("我去北京", "我去过北京", "different words: - / 过"), ("我吃饭", "我吃饭了", "different words: - / 了"),
    ("书是我的", "书是我", "different words: 的 / -"), ("我不是很累", "我不是累", "different words: 很 / -"),
    ("真的假的", "假的", "different words: 真 的 / -"), ("非常时期", "时期", "different words: 非 常 / -"),
    ("一本正经", "正经", "different words: 一 本 / -"), ("我喜欢咖啡", "我妈妈喜欢咖啡", "different words: - / 妈 妈"),
    ("你喜欢咖啡吗", "你喜欢咖啡", "different words: 吗 / -"),
    ("我从北京搬到上海", "我从上海搬到北京", "the same words in another order"),
    ("第一名", "第二名", "different numbers or dates: 1 / 2"), ("我住一个人", "我住人", "different words: 一 个 / -"),
]  # fmt: skip


@each_row(("a", "b", "expected"), APART, ids=[f"{a} | {b}" for a, b, _ in APART])
def test_what_tells_two_statements_apart_is_said(a: str, b: str, expected: str) -> None:
    assert difference(a, b) == expected


@each_row("one", ["三", "一百二", "三万五", "一万亿", "千", "一百", "一万二千"])
@each_row("other", ["五", "102", "120", "35000", "30005", "10000", "1000", "100", "12000"])
def test_numbers_in_han_digits_are_the_same_only_as_their_value(one: str, other: str) -> None:
    same = {("一百", "100"), ("一万二千", "12000")}
    assert (difference(f"共{one}元", f"共{other}元") is None) == ((one, other) in same)


@each_row(
    "text",
    ["See you tomorrow", "I moved last week", "Dentist on Friday", "In two weeks", "昨天搬家", "下周开会", "周五看牙"],
)
def test_a_text_may_speak_from_its_day(text: str) -> None:
    assert speaks_from_its_day(text)


@each_row("text", ["This is my last name", "I run on weekdays", "Next to the park", "每周五看牙", "我住在上海", ""])
def test_what_holds_on_any_day_speaks_from_none(text: str) -> None:
    assert not speaks_from_its_day(text)
