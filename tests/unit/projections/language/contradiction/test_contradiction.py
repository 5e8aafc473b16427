"""What a new statement is to a known one: the same, a refinement, a contradiction that may be acted upon or only flagged."""

from __future__ import annotations

from engramlog_server.projections.language.contradiction.relation import MOST_READ, Relation, compare
from tests.rows import each_row

SURE_ENGLISH = [
    ("I don't like coffee", "I like coffee"), ("I don't like coffee any more", "I like coffee."),
    ("I no longer work at the bank", "I work at the bank"), ("I quit smoking", "I smoke"), ("I can't swim", "I can swim"),
    ("I'm not allergic to peanuts", "I'm allergic to peanuts"), ("I never drink wine", "I drink wine"),
    ("The user does not like tea", "The user likes tea"), ("I am 26 years old", "I'm 25"),
    ("I turned thirty-one", "I am 30 years old"), ("I'm a 40-year-old nurse", "I am 39 years old"),
    ("My daughter is three years old", "My daughter is 5 years old"), ("I was born in 1990", "I was born in 1991"),
    ("I live in Munich", "I live in Berlin"), ("I just moved to Berlin", "I live in Munich"),
    ("I moved from London to Paris", "I live in London"), ("I'm based in Toronto", "I live in Vancouver"),
    ("I am from Japan", "I come from Korea"), ("I have three cats", "I have two cats"),
    ("I have two younger brothers", "I have 3 younger brothers"), ("We own one car", "We own two cars"),
    ("I am 180 cm tall", "I am 175 cm tall"), ("I weigh 70 kg", "I weigh 82 kg"),
    ("My birthday is on May 5th", "My birthday is May 3"), ("My rent is $1,100 a month", "My rent is $900 a month"),
    ("My class starts at 3 pm", "My class starts at 4 pm"),
]  # fmt: skip
FLAGGED_ENGLISH = [
    ("I hate coffee", "I like coffee"), ("I'm single", "I'm married"), ("I used to smoke", "I smoke"),
    ("I did not drink coffee", "I drink coffee"), ("I'm not eating", "I'm eating"),
    ("I don't run every day", "I jog every day"),
    ("I don't like coffee in the evening, only tea", "I like coffee and tea in the evening"),
    ("He doesn't eat meat", "He eats meat"), ("She lives in Rome", "She lives in Milan"),
    ("The meeting is on Friday", "The meeting is on Monday"), ("I ran 5 miles today", "I ran 10 miles today"),
    ("I don't like tea", "I like coffee and tea"), ("I think I don't like coffee", "I like coffee"),
    ("There is no man playing a guitar on stage", "A man is playing a guitar on stage"),
    ("Nobody is slicing a tomato", "Someone is slicing a tomato"),
    ("A dog isn't running outside", "A dog is running outside"), ("The door is closed", "The door is open"),
    ("The glass is full", "The glass is empty"), ("A boy is jumping off a wall", "A boy is jumping onto a wall"),
    ("A woman is adding salt to the soup", "A woman is removing salt from the soup"),
    ("There is no dog in the garden", "A terrier is in the garden"),
]  # fmt: skip
AT_PEACE_ENGLISH = [
    ("unrelated", "I like tea", "I like coffee"), ("unrelated", "Do you like coffee?", "I don't like coffee"),
    ("unrelated", "If I lived in Berlin I would be happy", "I live in Munich"),
    ("unrelated", "I used to live in Berlin", "I live in Munich"),
    ("unrelated", "I want to live in Paris", "I live in Berlin"),
    ("unrelated", "My sister lives in Paris", "I live in Berlin"), ("unrelated", "He doesn't like coffee", "I like coffee"),
    ("unrelated", "I live in Germany", "I live in Berlin"), ("unrelated", "I'm almost 30", "I'm 28"),
    ("unrelated", "I live in Paris, Texas", "I live in Austin"), ("unrelated", "I am 5 minutes late", "I am 10 years old"),
    ("same", "I have a cat", "I have a dog and two cats from the shelter"),
    ("unrelated", "There is no woman combing her hair", "A woman is boiling shrimps"),
    ("unrelated", "A man with a small dog is walking", "A man with a big dog is walking"),
    ("unrelated", "My flight is at 9", "My cat is black"), ("same", "I like coffee", "I like coffee!"),
    ("same", "I do not hate coffee", "I like coffee"), ("same", "I like coffee", "I like black coffee"),
    ("same", "I'm 25", "I am twenty-five years old"), ("same", "My mum is a doctor", "My mother is a doctor"),
    ("refines", "I like black coffee", "I like coffee"),
    ("refines", "I have two cats called Tom and Kit", "I have two cats"),
    ("refines", "I'm not from China but from Japan", "I'm not from China"),
]  # fmt: skip
SURE_CHINESE = [
    ("我不喜欢咖啡", "我喜欢咖啡"), ("我不再喝咖啡了", "我喝咖啡"), ("我对花生不过敏", "我对花生过敏"),
    ("我不是北京人", "我是北京人"), ("我不吃肉", "我吃肉"), ("我不会游泳", "我会游泳"), ("我不抽烟了", "我抽烟"),
    ("我今年26岁", "我今年25岁"), ("我三十二岁了", "我今年31岁"), ("我22了，你呢？", "我今年二十三岁"),
    ("我女儿五岁了", "我女儿三岁"), ("我是91年的", "我是92年的"), ("我住在上海", "我住在北京"),
    ("我搬到深圳了", "我住在北京"), ("我老家是河南的", "我来自河北"), ("我是广东人", "我是广西的，你呢？"),
    ("我现在在杭州工作", "我在成都上班"), ("我有三只猫", "我养了两只猫"), ("我有两个儿子", "我有三个儿子"),
    ("身高180", "身高175"), ("我体重70公斤", "我体重八十公斤"), ("我的生日是5月4日", "我的生日是五月三号"),
    ("我住在Berlin", "I live in Munich"), ("我是上海人", "我是山东青岛人"), ("用户今年四十岁", "用户今年38岁"),
]  # fmt: skip
FLAGGED_CHINESE = [
    ("我没有养猫", "我养猫"), ("我没喝咖啡", "我喝咖啡"), ("我不爱咖啡", "我喜欢咖啡"), ("我不太喜欢咖啡", "我喜欢咖啡"),
    ("我讨厌跑步", "我喜欢跑步"), ("我单身", "我结婚了"), ("我住的地方离公司很近", "我住的地方离公司很远"),
    ("你不喜欢爬山吗？", "你喜欢爬山吗？"), ("你平时工作闲吗？", "你平时工作忙吗？"), ("我在家休息", "我在家上班"),
    ("他住在上海", "他住在北京"), ("会议改到星期五", "会议在星期四"), ("我觉得我不喜欢咖啡", "我喜欢咖啡"),
    ("今天我不喝咖啡", "今天我喝咖啡"), ("我喜欢咖啡，不喜欢茶", "我喜欢咖啡和茶"), ("这家店很贵", "这家店很便宜"),
    ("不，我住在学校", "好的，我住在学校"), ("没有人喜欢他", "有人喜欢他"), ("我失业了", "我在工作"),
]  # fmt: skip
AT_PEACE_CHINESE = [
    ("unrelated", "我喜欢喝茶", "我喜欢咖啡"), ("unrelated", "你喜欢咖啡吗？", "我不喜欢咖啡"),
    ("unrelated", "如果我住在北京就好了", "我住在上海"), ("unrelated", "我以前住在北京", "我住在上海"),
    ("unrelated", "我女儿三岁", "我儿子五岁"), ("unrelated", "他不喜欢咖啡", "我喜欢咖啡"),
    ("unrelated", "我住在海淀", "我住在北京"), ("unrelated", "我快30了", "我今年28岁"),
    ("unrelated", "我比你大五岁", "我今年二十七岁"), ("unrelated", "我想去上海玩", "我在北京工作"),
    ("same", "我喜欢咖啡", "我喜欢咖啡。"), ("same", "我不是不喜欢咖啡", "我喜欢咖啡"),
    ("same", "我今年25岁", "我二十五岁了"), ("same", "我喜欢小狗", "我很喜欢狗狗"),
    ("same", "你是不是喜欢猫？", "你喜欢猫吗？"), ("same", "我爸妈是老师", "我父母是老师"),
    ("refines", "我喜欢咖啡和绿茶", "我喜欢咖啡"), ("refines", "我在北京学钢琴", "我学钢琴"),
    ("unrelated", "我有一只猫", "我有两只猫，一黑一白"),
]  # fmt: skip


@each_row(("new", "known"), SURE_ENGLISH + SURE_CHINESE)
def test_a_clash_of_values_or_a_plain_negation_is_sure(new: str, known: str) -> None:
    relation = compare(new, known)
    assert (relation.kind, relation.sure) == ("contradicts", True), relation
    assert relation.reasons


@each_row(("new", "known"), FLAGGED_ENGLISH + FLAGGED_CHINESE)
def test_any_other_contradiction_is_only_flagged(new: str, known: str) -> None:
    relation = compare(new, known)
    assert (relation.kind, relation.sure) == ("contradicts", False), relation
    assert relation.reasons


@each_row(("kind", "new", "known"), AT_PEACE_ENGLISH + AT_PEACE_CHINESE)
def test_statements_that_can_both_hold_do_not_contradict_each_other(kind: str, new: str, known: str) -> None:
    assert compare(new, known).kind == kind, compare(new, known)


def test_the_reason_names_both_values() -> None:
    relation = compare("我今年26岁", "I am 25 years old")
    assert relation.reasons == ("i, age: years 26 / i, age: years 25",)
    assert [(clash.new.value, clash.known.value) for clash in relation.slots] == [("years 26", "years 25")]


@each_row("text", ["", " ", "?", "。", "\ud800我不", "\x01\x02", "不" * 5000, "İ" * 9, "𠮷野家不好", "12:", "🎉"])
def test_any_text_can_be_compared(text: str) -> None:
    assert compare(text, text).kind == "same"
    assert compare(text, "I like coffee").kind == compare("I like coffee", text).kind == "unrelated"


def test_what_lies_beyond_the_part_that_is_read_is_never_taken_for_the_same() -> None:
    text = "I like coffee. " * (MOST_READ // 10)
    assert compare(text + "a", text + "b").kind == "unrelated"
    assert compare(text, text) == Relation("same", True, ("the same words",))


@each_row("digit", ["٣", "३", "３", "𝟛", "〇", "Ⅻ"])
def test_a_digit_of_any_script_is_read_or_left(digit: str) -> None:
    assert compare("I am 5 years old", f"I am {digit} years old.").kind != "same"
    assert compare(f"I don't like the number {digit} at all.", f"I like the number {digit}.").kind != "same"


@each_row(
    ("new", "known", "kind"),
    [
        ("我住在小城市里", "我住在大城市里", "contradicts"), ("我现在住校外", "我现在住校内", "contradicts"),
        ("我退出了合唱团", "我参加了合唱团", "contradicts"), ("我每天都讨厌吃辣", "我每天都爱吃辣", "contradicts"),
        ("我喜欢玩水", "我喜欢爬山", "unrelated"), ("我认识很多女人", "我认识很多人", "unrelated"),
        ("他们两个的性格不一样", "他们两个的性格不同", "same"), ("没办法，我经常熬夜", "我经常熬夜", "same"),
        ("你住在北京，不是吗？", "你住在北京？", "same"),
    ],
)  # fmt: skip
def test_chinese_words_that_differ_by_a_part_are_opposites_where_the_part_is_one(
    new: str, known: str, kind: str
) -> None:
    assert compare(new, known).kind == compare(known, new).kind == kind
