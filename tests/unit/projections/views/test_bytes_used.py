"""What a view says it takes."""

from __future__ import annotations

from tests.given.events import created, folded, revised
from tests.given.views import anew, moved


def test_people_who_were_read_count_and_those_who_are_read_again_do_not_count_twice() -> None:
    told = [created("My sister is called Anna", "anna"), created("The kiln broke", "kiln")]
    before = folded(*told)
    after = folded(*told, revised("My sister is called Emma", "anna", 1))
    view, unread = anew(before), anew(before)
    for _ in range(2):
        assert [len(view.people(row)) for row in range(2)] == [1, 0]
    taken = view.bytes_used() - unread.bytes_used()
    assert taken > 300
    for one in (view, unread):
        moved(one, before, after)
    assert [[one.name for one in view.people(row)] for row in range(2)] == [["Emma"], []]
    assert view.bytes_used() - unread.bytes_used() == taken
