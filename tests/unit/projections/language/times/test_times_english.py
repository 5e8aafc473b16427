"""English time expressions, each read on Thursday 15 June 2023 at ten: the table is what they mean."""

from __future__ import annotations

from tests.given.times import read, table
from tests.rows import each_row

# The phrase in a question | what of it is the time expression (=: all) | from | to, not included (*: open)
MEANT = """
last Tuesday | = | 2023-06-13 | 2023-06-14
last Thursday | = | 2023-06-08 | 2023-06-09
this Tuesday | = | 2023-06-13 | 2023-06-14
next Friday | = | 2023-06-16 | 2023-06-17
on Monday | Monday | 2023-06-12 | 2023-06-13
on Thursday | Thursday | 2023-06-15 | 2023-06-16
Tuesday | = | 2023-06-13 | 2023-06-14
last week | = | 2023-06-05 | 2023-06-12
this week | = | 2023-06-12 | 2023-06-19
next week | = | 2023-06-19 | 2023-06-26
last weekend | = | 2023-06-10 | 2023-06-12
this weekend | = | 2023-06-17 | 2023-06-19
the weekend before last | = | 2023-06-03 | 2023-06-05
the week before last | = | 2023-05-29 | 2023-06-05
last month | = | 2023-05-01 | 2023-06-01
the month before last | = | 2023-04-01 | 2023-05-01
this month | = | 2023-06-01 | 2023-07-01
next month | = | 2023-07-01 | 2023-08-01
last year | = | 2022-01-01 | 2023-01-01
the year before last | = | 2021-01-01 | 2022-01-01
two weeks ago | = | 2023-05-29 | 2023-06-05
a week ago | = | 2023-06-07 | 2023-06-10
three days ago | = | 2023-06-12 | 2023-06-13
10 days ago | = | 2023-06-03 | 2023-06-08
a couple of months ago | = | 2023-04-01 | 2023-05-02
a few days ago | = | 2023-06-08 | 2023-06-14
several weeks ago | = | 2023-04-27 | 2023-06-02
two years ago | = | 2020-12-15 | 2021-12-15
half a year ago | = | 2022-10-31 | 2023-01-30
a year and a half ago | = | 2021-08-01 | 2022-05-01
an hour ago | = | 2023-06-15T08:44 | 2023-06-15T09:16
20 minutes ago | = | 2023-06-15T09:34 | 2023-06-15T09:46
in March 2022 | March 2022 | 2022-03-01 | 2022-04-01
March 2022 | = | 2022-03-01 | 2022-04-01
in March | March | 2023-03-01 | 2023-04-01
last March | = | 2023-03-01 | 2023-04-01
this May | = | 2023-05-01 | 2023-06-01
next August | = | 2023-08-01 | 2023-09-01
in May | May | 2023-05-01 | 2023-06-01
early May | = | 2023-05-01 | 2023-05-11
in late April | late April | 2023-04-21 | 2023-05-01
mid-August 2022 | = | 2022-08-11 | 2022-08-21
at the beginning of May | = | 2023-05-01 | 2023-05-11
at the end of last month | = | 2023-05-21 | 2023-06-01
by the end of last year | the end of last year | 2022-11-01 | 2023-01-01
early 2023 | = | 2023-01-01 | 2023-05-03
late 2022 | = | 2022-09-01 | 2023-01-01
in the summer of 2023 | summer of 2023 | 2023-06-01 | 2023-09-01
summer 2022 | = | 2022-06-01 | 2022-09-01
last summer | = | 2022-06-01 | 2022-09-01
this summer | = | 2023-06-01 | 2023-09-01
in the winter of 2022 | winter of 2022 | 2022-12-01 | 2023-03-01
last winter | = | 2022-12-01 | 2023-03-01
during the summer | summer | 2023-06-01 | 2023-09-01
next spring | = | 2024-03-01 | 2024-06-01
on the 5th | the 5th | 2023-06-05 | 2023-06-06
on the 20th | the 20th | 2023-05-20 | 2023-05-21
on the 5th of last month | the 5th of last month | 2023-05-05 | 2023-05-06
5/7/2023 | = | 2023-05-07 | 2023-05-08
13/7/2023 | = | 2023-07-13 | 2023-07-14
5/7/23 | = | 2023-05-07 | 2023-05-08
07.05.2023 | = | 2023-05-07 | 2023-05-08
2023-05-07 | = | 2023-05-07 | 2023-05-08
2023/05/07 | = | 2023-05-07 | 2023-05-08
2023-05 | = | 2023-05-01 | 2023-06-01
May 7, 2023 | = | 2023-05-07 | 2023-05-08
7 May 2023 | = | 2023-05-07 | 2023-05-08
7th of May 2023 | = | 2023-05-07 | 2023-05-08
May 7th | = | 2023-05-07 | 2023-05-08
on 7 May | 7 May | 2023-05-07 | 2023-05-08
the first of May | first of May | 2023-05-01 | 2023-05-02
May 3-7 | = | 2023-05-03 | 2023-05-08
3 to 7 May 2022 | = | 2022-05-03 | 2022-05-08
between 3 May and 7 May | = | 2023-05-03 | 2023-05-08
from 3 May to 7 May 2022 | = | 2022-05-03 | 2022-05-08
between August 11 and August 15 2022 | = | 2022-08-11 | 2022-08-16
from March to May | = | 2023-03-01 | 2023-06-01
from November to February | = | 2022-11-01 | 2023-03-01
between 2019 and 2021 | = | 2019-01-01 | 2022-01-01
from Monday to Wednesday | = | 2023-06-12 | 2023-06-15
Monday through Friday | = | 2023-06-05 | 2023-06-10
since June | = | 2023-06-01 | 2023-06-16
since last week | = | 2023-06-05 | 2023-06-16
since 2022 | = | 2022-01-01 | 2023-06-16
since 3 May | = | 2023-05-03 | 2023-06-16
before April | = | * | 2023-04-01
before 2023 | = | * | 2023-01-01
before 3 May 2023 | = | * | 2023-05-03
after 3 May | = | 2023-05-04 | *
until May | = | * | 2023-06-01
up to last week | = | * | 2023-06-12
this morning | = | 2023-06-15T05:00 | 2023-06-15T12:00
this afternoon | = | 2023-06-15T12:00 | 2023-06-15T18:00
tonight | = | 2023-06-15T18:00 | 2023-06-16T05:00
last night | = | 2023-06-14T18:00 | 2023-06-15T05:00
yesterday | = | 2023-06-14 | 2023-06-15
yesterday morning | = | 2023-06-14T05:00 | 2023-06-14T12:00
yesterday evening | = | 2023-06-14T17:00 | 2023-06-15
the day before yesterday | = | 2023-06-13 | 2023-06-14
today | = | 2023-06-15 | 2023-06-16
tomorrow | = | 2023-06-16 | 2023-06-17
tomorrow morning | = | 2023-06-16T05:00 | 2023-06-16T12:00
the day after tomorrow | = | 2023-06-17 | 2023-06-18
on the evening of 7 May | the evening of 7 May | 2023-05-07T17:00 | 2023-05-08
last Tuesday night | = | 2023-06-13T18:00 | 2023-06-14T05:00
on 7 May 2023 in the morning | 7 May 2023 in the morning | 2023-05-07T05:00 | 2023-05-07T12:00
in the last 10 days | the last 10 days | 2023-06-05 | 2023-06-16
over the past two weeks | the past two weeks | 2023-06-01 | 2023-06-16
the last few weeks | = | 2023-04-27 | 2023-06-16
in the past month | the past month | 2023-05-16 | 2023-06-16
over the past year | the past year | 2022-06-15 | 2023-06-16
in the last 24 hours | the last 24 hours | 2023-06-14T10:00 | 2023-06-15T10:00
the next 3 days | = | 2023-06-16 | 2023-06-19
the other day | = | 2023-06-08 | 2023-06-16
the other week | = | 2023-05-18 | 2023-06-16
earlier this week | = | 2023-06-12 | 2023-06-16
earlier this year | = | 2023-01-01 | 2023-06-16
later this month | = | 2023-06-15 | 2023-07-01
Q3 2022 | = | 2022-07-01 | 2022-10-01
in Q1 | Q1 | 2023-01-01 | 2023-04-01
the first quarter of 2023 | first quarter of 2023 | 2023-01-01 | 2023-04-01
last quarter | = | 2023-01-01 | 2023-04-01
this quarter | = | 2023-04-01 | 2023-07-01
first half of 2022 | = | 2022-01-01 | 2022-07-01
in 2022 | 2022 | 2022-01-01 | 2023-01-01
during 2021 | 2021 | 2021-01-01 | 2022-01-01
in the 1990s | 1990s | 1990-01-01 | 2000-01-01
last Christmas | = | 2022-12-25 | 2022-12-26
at Christmas 2021 | Christmas 2021 | 2021-12-25 | 2021-12-26
on Halloween | Halloween | 2022-10-31 | 2022-11-01
the week before 16 May 2023 | = | 2023-05-09 | 2023-05-16
two weeks before May 11, 2023 | = | 2023-04-24 | 2023-05-01
the day after 3 May | = | 2023-05-04 | 2023-05-05
the weekend before 3 May 2023 | = | 2023-04-29 | 2023-05-01
the weekend of 6 May | = | 2023-05-06 | 2023-05-08
the week of 3 May | = | 2023-05-01 | 2023-05-08
last weekend before April 10, 2023 | = | 2023-04-08 | 2023-04-10
the first week of May | = | 2023-05-01 | 2023-05-08
the last weekend of April 2023 | = | 2023-04-29 | 2023-05-01
Tuesday last week | = | 2023-06-06 | 2023-06-07
last week on Tuesday | = | 2023-06-06 | 2023-06-07
the Monday before last | = | 2023-06-05 | 2023-06-06
in June last year | June last year | 2022-06-01 | 2022-07-01
May of last year | = | 2022-05-01 | 2022-06-01
3 weeks from now | = | 2023-07-01 | 2023-07-12
in the middle of May | the middle of May | 2023-05-11 | 2023-05-21
the beginning of this year | = | 2023-01-01 | 2023-03-03
the end of summer 2022 | = | 2022-08-16 | 2022-09-01
from May onwards | = | 2023-05-01 | 2023-06-16
Sept. 5, 2022 | = | 2022-09-05 | 2022-09-06
5 sep 2022 | = | 2022-09-05 | 2022-09-06
on Monday, 8 May 2023 | 8 May 2023 | 2023-05-08 | 2023-05-09
in mid-May | mid-May | 2023-05-11 | 2023-05-21
the other night | = | 2023-06-08 | 2023-06-16
two weekends ago | = | 2023-06-03 | 2023-06-05
this past weekend | = | 2023-06-10 | 2023-06-12
last Friday morning | = | 2023-06-09T05:00 | 2023-06-09T12:00
after 2021 | = | 2022-01-01 | *
on New Year's Eve | New Year's Eve | 2022-12-31 | 2023-01-01
the last week of April 2022 | = | 2022-04-24 | 2022-05-01
earlier than March 2022 | = | * | 2022-03-01
later than 2022-03-05 | = | 2022-03-06 | *
"""


@each_row(("phrase", "words", "start", "end"), table(MEANT))
def test_a_phrase_means_these_days(phrase: str, words: str, start: str, end: str) -> None:
    assert read(phrase) == [(words, start, end)]


@each_row(
    ("text", "start"),
    [
        ("What shall I do on Sunday?", "2023-06-18"), ("Shall we go swimming on Sunday?", "2023-06-18"),
        ("I'll see Anna on Monday", "2023-06-19"), ("What should I cook for Sunday?", "2023-06-18"),
        ("On Sunday, what shall I wear?", "2023-06-18"), ("On Sunday we are going to fly to Rome", "2023-06-18"),
        ("What am I doing on Thursday?", "2023-06-22"), ("Are we meeting Tom on Monday morning?", "2023-06-19T05:00"),
        ("Any plans for Sunday?", "2023-06-18"), ("Am I free on Monday?", "2023-06-19"),
        ("Do I have anything on Monday?", "2023-06-19"), ("Remind me to call mum on Sunday", "2023-06-18"),
        ("I need a babysitter on Sunday", "2023-06-18"), ("Let's plan a dinner for my family on Sunday", "2023-06-18"),
        ("What should I do on the 5th?", "2023-07-05"), ("What will I need on the 20th?", "2023-06-20"),
        ("I ran 5 km. What shall I do on Sunday?", "2023-06-18"),
    ],
)  # fmt: skip
def test_a_plan_or_a_question_about_a_coming_day_means_the_next_such_day(text: str, start: str) -> None:
    assert [found[1] for found in read(text)] == [start]


@each_row(
    ("text", "start"),
    [
        ("What did I do on Sunday?", "2023-06-11"), ("Who came on Sunday?", "2023-06-11"),
        ("What did Will do on Sunday?", "2023-06-11"), ("What were we going to do on Sunday?", "2023-06-11"),
        ("Can you tell me what I ate on Sunday?", "2023-06-11"), ("I want to know where we met on Sunday", "2023-06-11"),
        ("Should I apologise for what I said on Sunday?", "2023-06-11"),
        ("I must have left my keys there on Sunday", "2023-06-11"), ("On Sunday I told Tom what I will do", "2023-06-11"),
        ("I'm trying to remember the film on Sunday", "2023-06-11"), ("Book club on Sunday: how was it?", "2023-06-11"),
        ("What should I have done on the 5th?", "2023-06-05"), ("What shall I do with the photos of last Sunday?", "2023-06-11"),
        ("What did I cook on Sunday? Shall I cook again?", "2023-06-11"),
    ],
)  # fmt: skip
def test_a_question_about_the_past_means_the_latest_such_day(text: str, start: str) -> None:
    assert [found[1] for found in read(text)] == [start]


@each_row(
    "text",
    [
        "What may the second person march to under the sun?", "How may 5 people share a march?", "You and may go",
        "How did I write it in 2000 words?", "Did my accuracy go from 60% to 85%?",
        "When did James try the Cyberpunk 2077 game?", "Where is the meeting on the 5th floor?",
        "What do I do every Monday?", "What did he sat on, and who wed?", "What is version 3.2.1 or 1/2 of it?",
        "Where did Ann go after the race, before meeting Bob?", "Who was the last person at the spring?",
        "Which day of the week suits me?", "on 31/31/2023, 2023-13-01 or 2023-02-30",
    ],
)  # fmt: skip
def test_words_and_numbers_that_are_no_time_are_left_alone(text: str) -> None:
    assert read(text) == []


def test_several_times_are_told_in_reading_order_and_in_the_question_s_own_letters() -> None:
    found = read("What did Ann say Last Week that she had not on 5 May 2023 or YESTERDAY?")
    assert [words for words, _, _ in found] == ["Last Week", "5 May 2023", "YESTERDAY"]


def test_of_a_day_that_does_not_exist_the_month_is_heard() -> None:
    assert read("What was on 30 February 2023?") == [("February 2023", "2023-02-01", "2023-03-01")]
