"""Levels 0 to 2 in English and Chinese, and what holds for every text; every number here is made up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.sensitivity.level import RULES, detect_sensitivity, reasons
from tests.rows import each_row

SENSITIVE = [
    ("telephone", "call me at 415-555-2671"), ("telephone", "My number is (212) 555 0187"),
    ("telephone", "ring +44 20 7946 0958 tomorrow"), ("telephone", "my phone number is 5550187"),
    ("telephone", "text 07700 900 123"), ("telephone", "我的手机号是13800138000"), ("telephone", "电话：010-62345678"),
    ("telephone", "打我电话 138 0013 8000"), ("telephone", "手机１３９１２３４５６７８"),
    ("e-mail", "write to ada.l@lovelace.org"), ("e-mail", "我的邮箱是xiaoming@mail.cn"),
    ("e-mail", "e-mail:bob@site.co.uk"), ("address", "I live at 42 wallaby way, Sydney"),
    ("address", "We moved to 221B Baker Street last spring"), ("address", "my address is 9 Elm Ct"),
    ("address", "the office is on 350 5th Avenue"), ("address", "P.O. Box 771"), ("address", "Springfield, IL 62704"),
    ("address", "我住在北京市朝阳区建国路88号"), ("address", "寄到幸福小区3号楼2单元501室"),
    ("address", "地址：上海市浦东新区世纪大道"), ("address", "我家在中山路八十八号"),
    ("messenger", "加我微信号: ming_2020"), ("messenger", "QQ号是 2837465"),
]  # fmt: skip

NOT_SENSITIVE = [
    "I have 2 cats and 3 dogs", "we walked 5 miles down the road", "I live in Paris", "the street was empty at 10",
    "I live on the second floor", "it costs 1200000 to build", "from 2019-05-07 to 2023-11-12",
    "10.0.0.1 and 192.168.1.100", "version 1.2.3.4567 at 2023", "the population is 1,400,000,000",
    "git clone git@github.com:someone/thing.git", "pip install thing@latest", "@ada could you look at 3 of these?",
    "my address book is full of 200 names", "phone batteries last 3 days", "I lived there for 20 years",
    "he scored 300 400 5000 points", "6.02214076e23 is a big number", "我住在上海", "坐11路3号线到公司", "走了5公里路",
    "电话响了3次", "我的手机号换了", "今天是2023年10月12日", "一共1234567元", "微信是个好软件", "路上堵了2小时",
]  # fmt: skip

GENERAL = [
    ("occupation", "I'm a nurse"), ("occupation", "My brother is an electrical engineer in Oslo"),
    ("occupation", "she works as a pastry chef"), ("occupation", "I work for a small bakery"),
    ("occupation", "he just got a job at the harbour"), ("occupation", "my profession is tiling roofs"),
    ("education", "I graduated from Lund in June"), ("education", "I have a degree in botany"),
    ("education", "she majored in music"), ("education", "He studied physics at the university"),
    ("education", "I am a medical student"), ("occupation-zh", "我是一名护士"), ("occupation-zh", "我爸爸是中学老师"),
    ("occupation-or-education-zh", "我在一家银行工作"), ("occupation-or-education-zh", "她毕业于浙江大学"),
    ("occupation-or-education-zh", "我的专业是植物学"), ("occupation-or-education-zh", "目前从事软件开发工作"),
]  # fmt: skip

PUBLIC = [
    "I like coffee", "We work as a team", "this works at the moment", "what a day, I am a bit tired",
    "that was a major storm", "good job at the match!", "she is a kind person", "a teacher called me once",
    "by degrees it got colder", "我喜欢喝咖啡", "今天天气很好", "我现在不想工作", "我是说明天再去", "工作日早上很堵",
    "大学真大", "", "🎉",
]  # fmt: skip


@each_row(("rule", "text"), SENSITIVE)
def test_an_address_or_number_to_reach_someone_is_level_2(rule: str, text: str) -> None:
    assert (detect_sensitivity(text), rule in reasons(text)) == (2, True)


@each_row("text", NOT_SENSITIVE)
def test_other_numbers_and_places_are_not_sensitive(text: str) -> None:
    assert detect_sensitivity(text) < 2


@each_row(("rule", "text"), GENERAL)
def test_occupation_and_education_are_level_1(rule: str, text: str) -> None:
    assert (detect_sensitivity(text), rule in reasons(text)) == (1, True)


@each_row("text", PUBLIC)
def test_anything_else_is_public_and_has_no_reasons(text: str) -> None:
    assert (detect_sensitivity(text), reasons(text)) == (0, [])


def test_the_most_sensitive_rule_decides_and_all_are_named() -> None:
    text = "I'm a nurse, my password is hunter2, write to me@ward.org"
    assert detect_sensitivity(text) == 3
    assert reasons(text) == ["password", "e-mail", "occupation"]


LIKELY = st.sampled_from(
    [
        "my password is ", "密码是", "PIN ", "@", "1", "42", "+", "-", " ", "sk-", "eyJ", "://a:", "路", "号", "I'm a ",
        "：", "İ", "ａ１",
    ]
)  # fmt: skip


@given(st.text() | st.lists(LIKELY | st.text(max_size=5), max_size=30).map("".join))
def test_any_text_has_a_level_and_it_is_that_of_its_reasons(text: str) -> None:
    by_name = {rule.name: rule.level for rule in RULES}
    assert detect_sensitivity(text) == max((by_name[name] for name in reasons(text)), default=0)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_half_of_a_surrogate_pair_hides_nothing(text: str) -> None:
    assert detect_sensitivity(f"{text}\ud83d my password is hunter2") == 3
