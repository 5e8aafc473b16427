"""The scenes on a cluster, each once: what was promised is there exactly once, and what was not promised is not lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.cluster.ground import Safety
from tests.chaos.cluster.scenes import CLUSTER_SCENES, ClusterScene, play
from tests.servers import wheel_server

SEED = 20_261_127
KEPT = Safety("always", 1)
CUT_OFF = CLUSTER_SCENES[1]


@pytest.mark.parametrize("scene", CLUSTER_SCENES, ids=lambda scene: scene.name)
def test_what_a_replica_has_is_there_once_whatever_breaks(tmp_path: Path, scene: ClusterScene) -> None:
    verdict = play(scene, wheel_server(), tmp_path, KEPT, SEED)
    assert verdict.wrong == []
    assert verdict.clean
    assert (verdict.without_replica, verdict.lost_unpromised, verdict.receipts_lost) == (0, 0, [])


def test_what_no_replica_has_is_lost_with_its_node_and_each_loss_is_told(tmp_path: Path) -> None:
    verdict = play(CUT_OFF, wheel_server(), tmp_path, Safety("always", 0), SEED)
    assert verdict.wrong == []
    assert verdict.clean
    assert verdict.lost_unpromised > 0
    assert verdict.receipts_lost != []
