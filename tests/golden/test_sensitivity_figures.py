"""What the rules of each version find is pinned: a recogniser that finds something else asks for a new `LEVEL_RULES`.

Until a version is released its line may be written anew; a released one stays, and `LEVEL_RULES` is raised: the job `levels` then
reads older entries again. `PROJECTION_VERSION` is raised with it, for entries of format 1 are judged when they are folded.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES, detect_sensitivity
from tests.given.sensitive_texts import HARMLESS_CHINESE, HARMLESS_ENGLISH, SECRET_CHINESE, SECRET_ENGLISH
from tests.unit.projections.language.sensitivity.test_sensitivity import GENERAL, NOT_SENSITIVE, PUBLIC, SENSITIVE
from tests.unit.projections.language.sensitivity.test_sensitivity_said import NOT_PRIVATE, PRIVATE
from tests.unit.projections.language.sensitivity.test_sensitivity_secrets import NO_SECRETS, SECRETS

TEXTS = (
    *SECRET_ENGLISH,
    *SECRET_CHINESE,
    *HARMLESS_ENGLISH,
    *HARMLESS_CHINESE,
    *(text for _, text in (*SENSITIVE, *GENERAL, *SECRETS, *PRIVATE)),
    *NOT_SENSITIVE,
    *PUBLIC,
    *NO_SECRETS,
    *NOT_PRIVATE,
)


class Pinned(NamedTuple):
    """What holds under one version of the rules."""

    projection: int
    """The version of the projection from which on folds judge by them."""
    levels: str
    """The levels of all the texts, hashed."""


PINNED = {1: Pinned(4, "1e8f7b1267ef0fdb"), 2: Pinned(11, "298e9665197a385c")}
"""By `LEVEL_RULES`."""


def test_the_levels_of_known_texts_change_with_the_version_of_the_rules_only() -> None:
    levels = "".join(str(detect_sensitivity(text)) for text in TEXTS)
    assert sha256(levels.encode()).hexdigest()[:16] == PINNED[LEVEL_RULES].levels


def test_each_version_of_the_rules_is_pinned_and_has_a_projection_of_its_own() -> None:
    assert sorted(PINNED) == list(range(1, LEVEL_RULES + 1))
    projections = [PINNED[rules].projection for rules in sorted(PINNED)]
    assert sorted(set(projections)) == projections
    assert projections[-1] <= PROJECTION_VERSION
