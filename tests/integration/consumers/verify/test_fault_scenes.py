"""The scenes of the fault test, each once: struck in the middle of traffic, told, mended, and judged against the pure fold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.scene import Scene
from tests.chaos.scenes.all import SCENES

SEED = 20_261_122


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_nothing_acknowledged_is_lost_in_silence_others_go_on_and_once_mended_all_is_as_the_pure_fold_has_it(
    tmp_path: Path, scene: Scene
) -> None:
    assert scene.play(tmp_path, SEED).clean
