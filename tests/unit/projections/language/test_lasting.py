"""Which statements that rules read in talk last by their form."""

from __future__ import annotations

from engramlog_server.projections.language.about_user import Drawn, lasts, passing_days

LASTING = """
User's wife is a paramedic, nights mostly
User's partner James is 53
User's grandma passed away
User's brother Emil does the ovens
User's uncle is called Marek
User has got asthma so keep the hills out
User has left their uncle's shop
User has swapped coffee for rooibos
User is a retired lighthouse keeper
User is off bread
User is Nadia
User carries an inhaler
User lives in Nottingham with two greyhounds
User and others moved to Galway
User used to play drums
User had their gallbladder out in spring
The doctor put User on beta blockers
Sunday mornings, User sings in the church choir
Mabel is nine
User has been with their partner for three years
User is partly sighted
User is the accountant at a sawmill
User has got coeliac disease
User and others have a grumpy parrot
User's wife's family is from Oaxaca
Itzel doesn't do surprises
User's first name is Sophie
用户弟弟是消防员
用户的同事叫方敏，她喜欢绿色
用户血压高，盐要少吃
""".strip().splitlines()
PASSING = """
User had a wicked day out with the gang last weekend
Last weekend, User had a picnic with some friends
User re-examined 7 critiques on May 29
User has a total of 10 cards
User has the confirmation numbers ready
User has registered for a webinar on July 20
User joined a reading challenge by March 1
User is convinced
User is a fan
User is a huge fan
User lost their keys again
User studied hard
User is determined to make an impact
User reviews the materials
User looks forward to it
User and others are stoked
User's aim was to show warmth
User's laptop just died
User's cousin just had a tough time
User's friends were mocking their weight
User's kids are their future
User's colleague likes green
Change starts small, so with hard work
Linguistic studies support the use of similes
用户的同事喜欢绿色
""".strip().splitlines()


def test_states_traits_habits_and_lasting_changes_last_and_nothing_else_does() -> None:
    drawn = Drawn("fact", "fact")
    assert [text for text in LASTING if not lasts(f"{text} (said on 2024-05-01)", drawn)] == []
    assert [text for text in PASSING if lasts(f"{text} (said on 2024-05-01)", drawn)] == []


def test_a_category_of_what_lasts_is_enough_but_for_verbs_of_the_moment_and_words_to_the_reader() -> None:
    assert lasts("User usually hikes alone", Drawn("stable_preference", "fact"))
    assert lasts("User found religion", Drawn("identity", "fact"))
    assert lasts("User asked to remember: their desk is on floor seven", Drawn("fact", "note"))
    assert not lasts("User expects daily updates", Drawn("stable_preference", "fact"))
    assert not lasts("User likes the breakdown", Drawn("stable_preference", "user_preference"))
    assert not lasts("User wants from now on: you must quote it", Drawn("fact", "note"))


def test_a_named_speaker_is_read_as_the_user() -> None:
    assert lasts("Melanie lives in Oslo", Drawn("fact", "fact", "Melanie"))
    assert not lasts("Melanie is convinced", Drawn("fact", "fact", "Melanie"))
    assert not lasts("梅兰的同事喜欢绿色", Drawn("fact", "fact", "梅兰"))


def test_a_state_of_the_day_and_an_opinion_of_one_matter_pass_and_a_habit_stays() -> None:
    passing = [
        "User's mam has Jonah overnight, she's at the end of their road", "User's mom Kimberly disagrees about the executor",
        "User's mom Kimberly prefers Kevin", "User is not keen on reading more when they can't see it",
        "用户在公司工作了几年，但是用户感到很乏味",
    ]  # fmt: skip
    lasting = [
        "User's partner prefers tea", "User works overnight shifts", "User is not keen on running", "用户每天都画画",
    ]  # fmt: skip
    assert [text for text in passing if passing_days(text) is None] == []
    assert [text for text in lasting if passing_days(text) is not None] == []
