"""Shapes of free talk, what is taken for granted in a question, and what passes with the hour."""

from __future__ import annotations

from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from tests.rows import each_row

DAY = "2024-05-01"
SAID = f" (said on {DAY})"


def told(text: str) -> list[tuple[str, str]]:
    """Class and content of what the turn asserts, without the day."""
    said = [one for one in extract(TurnText("t1", text, "user", "user", DAY)) if one.asserted]
    return [(one.category, one.content.removesuffix(SAID).removesuffix(f"（{DAY}说）")) for one in said]


@each_row(
    ("text", "category", "content"),
    [
        ("Our team has decided to close on Mondays. Can you write a sign?", "fact",
         "User's decision: Our team has decided to close on Mondays"),
        ("After a long talk we chose the smaller van.", "fact", "User's decision: After a long talk we chose the smaller van"),
        ("我们组定下来周会改到周三，帮我发个通知。", "fact", "用户的决定：我们组定下来周会改到周三"),
        ("最后我们选了带院子的房子。", "fact", "用户的决定：最后我们选了带院子的房子"),
        ("My flight to Lisbon leaves on Friday at six.", "temporary", "User's flight to Lisbon leaves on Friday at six"),
        ("我去成都的火车周六早上八点开。", "temporary", "用户去成都的火车周六早上八点开"),
        ("Can't do dairy, it gives me hives.", "stable_preference", "User cannot do dairy"),
        ("I gave up the allotment, the knees wouldn't have it.", "fact", "User gave up the allotment"),
        ("春天的时候我把菜地退了。", "fact", "用户春天的时候把菜地退了"),
        ("我去街道办坐办公室了。", "fact", "用户去街道办坐办公室了"),
        ("I get about on an e-bike.", "stable_preference", "User gets about on an e-bike"),
        ("Book club is every second Thursday at mine.", "stable_preference",
         "Book club is every second Thursday at User's place"),
        ("读书会每隔一个周四在我家办。", "stable_preference", "用户读书会每隔一个周四在家办"),
        ("I've got asthma so keep the hills out.", "fact", "User has got asthma"),
        ("我一喝牛奶就拉肚子，早餐换点别的。", "fact", "用户一喝牛奶就拉肚子"),
        ("我儿子小北九岁，书单短一点。", "fact", "用户儿子小北九岁"),
        ("Painting helps me relax after work.", "stable_preference", "Painting helps User relax after work"),
        ("My family means the world to me.", "stable_preference", "User's family means the world to them"),
        ("Honesty is important to me.", "stable_preference", "Honesty is important to User"),
        ("Skiing is my passion.", "stable_preference", "User's passion is Skiing"),
        ("Emma is my favorite book.", "stable_preference", "User's favorite book is Emma"),
        ("Ronaldo is one of my favorite players.", "stable_preference", "User counts Ronaldo among their favorite players"),
        ("We love having movie marathons.", "stable_preference", "User and others love having movie marathons"),
        ("I do yoga every morning.", "stable_preference", "User does yoga every morning"),
        ("I usually work during quiet hours.", "stable_preference", "User usually works during quiet hours"),
        ("In my free time, I enjoy chess.", "stable_preference", "In their free time, User enjoys chess"),
        ("I prioritize a clear and concise style.", "stable_preference", "User prioritizes a clear and concise style"),
        ("I'm still volunteering at the animal shelter.", "temporary", "User is still volunteering at the animal shelter"),
        ("I've been looking into evening courses.", "temporary", "User has been looking into evening courses"),
        ("I'm gonna visit Anna on May 3.", "temporary", "User is gonna visit Anna on May 3"),
        ("My next game is on Friday.", "temporary", "User's next game is on Friday"),
        ("My review of the will is scheduled for August 2025.", "temporary",
         "User's review of the will is scheduled for August 2025"),
        ("We're traveling through Lake Tahoe!", "temporary", "User and others are traveling through Lake Tahoe"),
        ("I'm a goalkeeper for the local team.", "identity", "User is a goalkeeper for the local team"),
        ("I'm based in Graz.", "identity", "User is based in Graz"),
        ("I kept playing the violin through college.", "fact", "User kept playing the violin through college"),
        ("We had a blast at a live music event.", "fact", "User and others had a blast at a live music event"),
        ("I'm friends with Anna from Graz.", "fact", "User is friends with Anna from Graz"),
        ("My house was hit by a flood last week.", "fact", "User's house was hit by a flood last week"),
        ("My partner is pregnant!", "fact", "User's partner is pregnant"),
        ("Our dog Max died last year.", "fact", "User's dog Max died last year"),
        ("Max is my dog.", "fact", "User's dog is called Max"),
        ("This is my dog Max.", "fact", "User's dog is called Max"),
        ("I met this amazing woman, Jean.", "fact", "User met an amazing woman, Jean"),
        ("I shared my ideas with the magazine.", "fact", "User shared their ideas with the magazine"),
        ("I set up a charity run in my village.", "fact", "User set up a charity run in their village"),
        ("I finished another pottery bowl - want to see a pic?", "fact", "User finished another pottery bowl"),
        ("I wanted to let you know that I moved to Graz.", "identity", "User moved to Graz"),
        ("Because I live in Graz, I ski.", "identity", "User lives in Graz"),
        ("Good to see you! Got married last week.", "fact", "User got married last week"),
        ("I helped people who lost their jobs.", "fact", "User helped people who lost their jobs"),
    ],
)  # fmt: skip
def test_free_talk_is_one_statement_of_a_class(text: str, category: str, content: str) -> None:
    assert told(text) == [(category, content)]


@each_row(
    ("text", "content"),
    [
        ("How does this affect my budget of $30 for books?", "User has a budget of $30 for books"),
        ("How does the law affect my preference for using electronic signatures?",
         "User has a preference for using electronic signatures"),
        ("I remember my trip to Rome last year.", "User had a trip to Rome last year"),
        ("Should I take my two dogs along?", "User has two dogs"),
        ("What can I read to my niece Ines, who's 11, tonight?", "User's niece Ines is 11"),
        ("As a nurse, I need more sleep.", "User is a nurse"),
        ("What should I read next, considering I'm 35?", "User is 35 years old"),
    ],
)  # fmt: skip
def test_what_is_taken_for_granted_is_told_of_the_speaker(text: str, content: str) -> None:
    assert [one for _, one in told(text)] == [content]


ASKED = ["Does painting help me relax?", "Is skiing my passion?", "Is Anna my sister?", "Is this my dog Max?",
         "Do we love having movie marathons?", "Is my next game on Friday?", "Do I do yoga every morning?",
         "What should I do when I moved the sofa on May 3?"]  # fmt: skip
SUPPOSED = ["If painting helps me relax, I'll buy a canvas.", "What if Max were my dog?",
            "If my budget of $30 for books were higher, what then?", "As a nurse, would I earn more?",
            "After I quit Nike, would I get a loan?", "Imagine my trip to Rome last year was cancelled.",
            "In the game, I'm a wizard in the tower.", "As if I lived in Graz!", "Maybe painting helps me calm down.",
            "What would I do, considering I might be 35?"]  # fmt: skip
QUOTED = ["Anna said painting helps me relax.", "\"Painting helps me relax,\" said Tom.", "Tom says skiing is my passion.",
          "Anna told me: my budget of $30 for books is too small.", "He said we love hiking in the mountains.",
          "My doctor thinks running keeps me healthy.", "Learning Python helps me get a job, or so they say."]  # fmt: skip
OTHERS = ["Tom is volunteering at the animal shelter.", "As a nurse, she works at night.", "They love hiking in the mountains.",
          "My sister's budget of $30 for books is small.", "My boss's trip to Rome last year was long.",
          "What about my character's goal of 30 dragons?", "Our team landed on the moon in 1969.",
          "How is Tom? Got married last week!",
          "In her free time, she enjoys chess.", "I met people at their house in Graz.",
          "Her house was hit by a flood last week.",
          "You are one of my favorite people.", "My friend's sister Anna is 11."]  # fmt: skip
DENIED = ["Running doesn't keep me fit.", "Painting no longer helps me relax.", "Skiing isn't my passion.",
          "Skiing was my passion.",
          "Anna is not my sister.", "I'm not volunteering at the animal shelter.", "I'm not a goalkeeper for the local team.",
          "I don't have a budget of $30 for books.", "I have no preference for Python.", "My next game isn't on Friday.",
          "My trip to Rome last year was cancelled.", "Nobody helps me clean the house.", "I don't do yoga every morning.",
          "I'm volunteering at the animal shelter, lol just kidding."]  # fmt: skip
WISHED = ["I wish painting helped me relax more.", "I'd be volunteering at the animal shelter.",
          "I wanted to tell you I might move to Graz.",
          "My next game might be on Friday."]  # fmt: skip
EMPTY = ["Talking to you helps me a lot.", "I'm a bit worried for the team.", "I'm part of the problem.",
          "I kept thinking about it all day.",
         "I love this amazing song.", "I played one with friends two days ago.", "Last month, I had a personal milestone.",
         "I'm heading to the corner store now."]  # fmt: skip

PLAYED = ["Translate: my trip to Rome last year was wonderful.", "Write a story: as a nurse, I met Anna.",
          "Write a story where as a nurse, I met Anna in Rome.", "Let's role play. I'm based in Mordor.",
          "Translate this into French: Hello. My two dogs bark.", "Paraphrase the following. In my free time, I enjoy chess.",
          "Suppose I'm a nurse. As a nurse, I need more sleep.", "Answer as if you were my mother. My two sons are naughty.",
          "写一个故事：作为一名护士，我认识了安娜。", "帮我写一篇作文：我有两只猫，我住在北京。",
          "I'm a character in the Matrix.", "I'm roleplaying a nurse from Graz.", "My avatar was eaten by a shark yesterday.",
          "From: Tom\nTo: me\nSubject: hi\nI'm based in Graz.", "For example, my budget of $30 for books could be split.",
          "It may be anything, e.g. my budget of $30 for books."]  # fmt: skip
NO_ROLE = ["As a father, I would never leave.", "As a manager, I want to see reports.", "As a teacher, I can create a course.",
           "As a nurse, my job would be easy."]  # fmt: skip
UNSURE = ["I wish I had my two dogs with me.", "My ex said my two cats hate me.", "My colleague asked whether my two dogs bark.",
          "My boss keeps saying: my two sons are naughty.",
          "My wedding last year never happened.", "I dreamed of my trip to Rome last year.",
          "I was supposed to have my surgery last week.", "There is no such thing as my budget of $30 for books.",
          "How do I get my degree in Biology without money?", "Coffee is my best friend.", "Jesus is my boss.",
          "After I moved to Graz, I'd be happy.", "I wanted to tell you that I moved to Graz, but I didn't.",
          "Running used to keep me fit.", "Allegedly running keeps me fit.", "Tom's jokes make me happy, he thinks.",
          "My friend thinks my next game is on Friday.", "What's up? Got married last week, my sister."]  # fmt: skip


def test_a_past_role_is_no_role_of_today() -> None:
    assert [one for _, one in told("As a teenager, I played chess with Tom.")] == [
        "As a teenager, User played chess with Tom"
    ]


def test_the_role_of_another_behind_a_comma_is_not_the_speakers() -> None:
    assert "User is a nurse" not in [one for _, one in told("As a nurse, my sister works at night.")]


def test_a_birthday_on_a_weekday_stays_a_birthday() -> None:
    assert [one for one, _ in told("My son's birthday is on Friday.")] == ["identity"]


@each_row(
    "text",
    [*PLAYED, *NO_ROLE, *UNSURE, *ASKED, *SUPPOSED, *QUOTED, *OTHERS, *DENIED, *WISHED, *EMPTY],
    ids=lambda text: str(text)[:40],
)
def test_what_nobody_asserts_of_himself_is_no_fact_of_free_talk(text: str) -> None:
    assert told(text) == []


@each_row(
    "text",
    [
        "I've implemented keyboard navigation using JavaScript.",
        "I've added JSON schema validation with Marshmallow 3.19.0.",
        "I'm planning to store the hashed passwords in my SQLite database.",
        "I borrowed the thick book from the library, can you summarize it?",
        "I'm volunteering at the animal shelter, can you write a cover letter?", "我想去旅游。",
        "我晚上打算和朋友一起去看电影。", "我打算去旅游一下放松一下自己。", "我准备睡觉了。", "我计划去一些其他的博物馆。",
        "我最近去了一场演唱会。",
    ],
)  # fmt: skip
def test_a_program_a_task_and_a_plan_of_the_hour_are_no_fact_that_lasts(text: str) -> None:
    assert told(text) == []


@each_row(
    ("text", "content"),
    [
        ("I deployed the API of my app on April 20.", "User deployed the API of their app on April 20"),
        ("I borrowed a book from Oslo Library, can you summarize it?", "User borrowed a book from Oslo Library"),
        ("我打算明年去云南旅游。", "用户打算明年去云南旅游"),
        ("我最近去了周杰伦的演唱会。", "用户最近去了周杰伦的演唱会"),
    ],
)
def test_what_has_its_day_or_its_name_is_kept(text: str, content: str) -> None:
    assert content in [one for _, one in told(text)]


@each_row(
    "piece",
    [
        "painting helps me ", "my goal of 3 ", "as a nurse, ", "one of my favorites ", "because I ", "- ", "who's 11, ",
        "想去",
    ],
)  # fmt: skip
def test_long_turns_of_these_shapes_are_read_to_an_end(piece: str) -> None:
    # The patterns are bounded: one that is not would never end here.
    text = (piece * (16_000 // len(piece) + 1))[:16_000]
    assert len(extract(TurnText("t1", text, "user", "user", DAY))) <= 12
