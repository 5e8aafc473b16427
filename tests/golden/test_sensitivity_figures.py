"""The levels that a projection version folds are pinned: a recogniser that finds something else asks for a new version.

Until a version is released its line may be written anew; a released one stays, and `PROJECTION_VERSION` is raised.
"""

from __future__ import annotations

from hashlib import sha256

from projections.fold import PROJECTION_VERSION
from projections.sensitivity import detect_sensitivity
from tests.sensitive_texts import HARMLESS_CHINESE, HARMLESS_ENGLISH, SECRET_CHINESE, SECRET_ENGLISH
from tests.unit.projections.test_sensitivity import GENERAL, NOT_SENSITIVE, PUBLIC, SENSITIVE
from tests.unit.projections.test_sensitivity_said import NOT_PRIVATE, PRIVATE
from tests.unit.projections.test_sensitivity_secrets import NO_SECRETS, SECRETS

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
LEVELS = {4: "1e8f7b1267ef0fdb"}
"""By the version from which on they hold: the levels of all the texts, hashed."""


def test_the_levels_of_known_texts_change_with_the_projection_version_only() -> None:
    pinned = LEVELS[max(version for version in LEVELS if version <= PROJECTION_VERSION)]
    levels = "".join(str(detect_sensitivity(text)) for text in TEXTS)
    assert sha256(levels.encode()).hexdigest()[:16] == pinned
