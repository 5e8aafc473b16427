"""The manifests: Kubernetes would take them, pods are as closed as can be, and workers are scaled by figures that are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import kubernetes_validate
import pytest
import yaml

from engramlog_server.ops.processes.life import END_SECONDS
from tests.contract.test_board import Parsed, exported
from tests.integration.deploy.read import KUBERNETES, NO_KUBECTL, OVERLAYS, has_kubectl, manifests, pods

VERSIONS = ("1.32", "1.37")
OWN = {"Kustomization", "Component", "ScaledObject"}
"""Kinds that Kubernetes itself does not have."""
needs_kubectl = pytest.mark.skipif(not has_kubectl(), reason=NO_KUBECTL)


def documents(folder: str) -> list[dict[str, Any]]:
    """What lies in a folder, as it is written."""
    found = [
        one for path in sorted((KUBERNETES / folder).glob("*.yaml")) for one in yaml.safe_load_all(path.read_text())
    ]
    return [one for one in found if one]


def written(name: str) -> dict[str, Any]:
    """The scaler, or an object of a name, as it is written."""
    (found,) = [one for folder in ("base", "keda", "redis") for one in documents(folder) if _named(one) == name]
    return found


def _named(one: Mapping[str, Any]) -> str:
    return f"{one['kind']}/{one.get('metadata', {}).get('name', '')}"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("folder", ["base", "redis"])
def test_what_is_written_is_what_kubernetes_knows(folder: str, version: str) -> None:
    known = [one for one in documents(folder) if one["kind"] not in OWN]
    assert known
    for one in known:
        kubernetes_validate.validate(one, version, strict=True)


@needs_kubectl
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_is_put_together_is_what_kubernetes_knows(overlay: str) -> None:
    kinds = [one["kind"] for one in manifests(overlay)]
    assert {"StatefulSet", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "ConfigMap"} <= set(kinds)
    assert ("ScaledObject" in kinds) == (overlay != "base")
    for one in manifests(overlay):
        if one["kind"] not in OWN:
            kubernetes_validate.validate(one, VERSIONS[0], strict=True)
        assert one["metadata"].get("namespace", "engramlog") == "engramlog"


@needs_kubectl
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_pods_are_nobodys_root_and_write_where_they_say(overlay: str) -> None:
    found = dict(pods(manifests(overlay)))
    assert len(found) == (3 if overlay == "base" else 5)
    for name, pod in found.items():
        assert pod["enableServiceLinks"] is False, name
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in [*pod["containers"], *pod.get("initContainers", ())]:
            closed = {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["securityContext"] == closed, name
            assert container["resources"]["limits"]["memory"], name
            assert container["resources"]["requests"], name


def test_the_end_is_waited_for() -> None:
    api = written("StatefulSet/engramlog")["spec"]["template"]["spec"]
    waits = float(api["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert api["terminationGracePeriodSeconds"] >= waits + 2 * END_SECONDS
    worker = written("Deployment/engramlog-worker")["spec"]["template"]["spec"]
    assert worker["terminationGracePeriodSeconds"] >= 2 * END_SECONDS


@pytest.mark.parametrize(
    "trigger", written("ScaledObject/engramlog-worker")["spec"]["triggers"], ids=lambda one: one["name"]
)
def test_workers_are_scaled_by_a_figure_that_is_told(trigger: Mapping[str, Any]) -> None:
    assert trigger["type"] == "prometheus"
    told = trigger["metadata"]
    (selected,) = Parsed(told["query"]).selected
    assert selected.name in exported()
    assert selected.labels - {"job"} <= exported()[selected.name].labels
    of_store = exported()[selected.name].family.documentation.startswith("Store:")
    assert selected.within == (("sum", "max") if of_store else ("sum", "rate"))
    assert float(told["threshold"]) > 0
    assert told["ignoreNullValues"] == "false", "a lag that nobody tells is none of 0"


def test_there_are_never_more_workers_than_partitions() -> None:
    spec = written("ScaledObject/engramlog-worker")["spec"]
    partitions = int(written("ConfigMap/engramlog")["data"]["ENGRAMLOG_PARTITIONS"])
    assert 1 <= spec["minReplicaCount"] <= spec["fallback"]["replicas"] <= spec["maxReplicaCount"] <= partitions
    deployment = written("Deployment/engramlog-worker")
    assert spec["scaleTargetRef"] == {"name": deployment["metadata"]["name"]}
    assert "replicas" not in deployment["spec"], "applied again, it would undo what the scaler did"


@needs_kubectl
def test_nobody_is_let_in_but_by_a_policy() -> None:
    found = {_named(one): one["spec"] for one in manifests("one") if one["kind"] == "NetworkPolicy"}
    nobody = found.pop("NetworkPolicy/nobody")
    assert (nobody["podSelector"], sorted(nobody["policyTypes"])) == ({}, ["Egress", "Ingress"])
    assert "ingress" not in nobody
    assert "egress" not in nobody
    for name, spec in found.items():
        for rule in [*spec.get("ingress", ()), *spec.get("egress", ())]:
            assert rule["ports"], name
            assert rule.get("from") or rule.get("to"), name
