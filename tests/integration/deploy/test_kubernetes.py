"""The manifests: Kubernetes would take them, pods are as closed as can be, and workers are scaled by figures that are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import kubernetes_validate
import pytest
import yaml

from ops.processes.ending import END_SECONDS
from tests.contract.test_board import Parsed, exported
from tests.integration.deploy.read import KUBERNETES, NO_KUBECTL, OVERLAYS, has_kubectl, manifests, pods, taken

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


def test_what_kubernetes_does_not_know_is_seen() -> None:
    wrong = written("Deployment/engramlog-worker")
    wrong["spec"]["template"]["spec"]["enableServiceLink"] = False
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[0], strict=True)


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
    assert len(found) == (3 if overlay == "base" else 4)
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


@needs_kubectl
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_is_mounted_is_a_volume_and_every_secret_is_one_that_the_page_makes(overlay: str) -> None:
    page = (KUBERNETES / "README.md").read_text("utf-8")
    for name, pod in pods(manifests(overlay)):
        (made,) = [one["spec"] for one in manifests(overlay) if _named(one).endswith(f"Set/{name}")] or [{}]
        claims = {one["metadata"]["name"] for one in made.get("volumeClaimTemplates", ())}
        volumes = {one["name"] for one in pod["volumes"]} | claims
        for container in [*pod["containers"], *pod.get("initContainers", ())]:
            assert {one["name"] for one in container["volumeMounts"]} <= volumes, name
            for one in container.get("env", ()):
                if "valueFrom" in one:
                    assert one["valueFrom"]["secretKeyRef"]["name"] == "engramlog-redis"
        for one in pod["volumes"]:
            if "secret" in one:
                assert f"create secret generic {one['secret']['secretName']} " in page, name
                assert one["secret"]["defaultMode"] & 0o007 == 0, name


@needs_kubectl
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_containers_run_the_program(overlay: str) -> None:
    found = dict(pods(manifests(overlay)))
    assert taken(found["engramlog"]["containers"][0]["args"]) == "engramlog up"
    assert taken(found["engramlog-worker"]["containers"][0]["args"]) == "engramlog worker"
    assert taken(found["engramlog-backup"]["containers"][0]["args"]) == "engramlog backup rotate"
    images = {one["image"] for name, pod in found.items() if name != "engramlog-redis" for one in pod["containers"]}
    assert images == {"registry.example.org/engramlog:0.2.0"}


def test_probes_ask_what_is_answered_without_a_key_by_a_name_of_the_certificate() -> None:
    from api.http.access.bearer import OPEN_PATHS

    (api,) = written("StatefulSet/engramlog")["spec"]["template"]["spec"]["containers"]
    page = (KUBERNETES / "README.md").read_text("utf-8")
    for probe, path in (("startupProbe", "/health"), ("livenessProbe", "/health"), ("readinessProbe", "/ready")):
        asked = api[probe]["httpGet"]
        assert (asked["scheme"], asked["path"]) == ("HTTPS", path)
        assert path in OPEN_PATHS
        (host,) = asked["httpHeaders"]
        assert f"DNS:{host['value']}" in page
    assert {port["name"]: port["containerPort"] for port in api["ports"]}["https"] == 8733


def test_a_backup_lies_in_a_claim_and_its_seals_where_the_first_pod_of_the_api_keeps_them() -> None:
    job, api = written("CronJob/engramlog-backup")["spec"], written("StatefulSet/engramlog")
    assert (job["concurrencyPolicy"], job["jobTemplate"]["spec"]["backoffLimit"]) == ("Forbid", 0)
    pod = job["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounted = {one["mountPath"]: one["name"] for one in container["volumeMounts"]}
    claims = {
        one["name"]: one["persistentVolumeClaim"]["claimName"]
        for one in pod["volumes"]
        if len(one) == 2 and "persistentVolumeClaim" in one
    }
    assert (
        claims[mounted[container["args"][2]]] == written("PersistentVolumeClaim/engramlog-backups")["metadata"]["name"]
    )
    (told,) = [one["value"] for one in container["env"] if one["name"] == "ENGRAMLOG_SEALS_BACKUP"]
    (of_api,) = api["spec"]["template"]["spec"]["containers"]
    assert {"name": "ENGRAMLOG_SEALS_BACKUP", "value": told} in of_api["env"]
    assert claims[mounted[told.rpartition("/")[0]]] == f"kept-{api['metadata']['name']}-0"
    (beside,) = pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert beside["labelSelector"]["matchLabels"] == {
        "statefulset.kubernetes.io/pod-name": f"{api['metadata']['name']}-0"
    }
    assert "exec engramlog-0 -- engramlog erase" in (KUBERNETES / "README.md").read_text("utf-8")


def test_the_end_is_waited_for() -> None:
    api = written("StatefulSet/engramlog")["spec"]["template"]["spec"]
    waits = float(api["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert api["terminationGracePeriodSeconds"] >= waits + 2 * END_SECONDS
    worker = written("Deployment/engramlog-worker")["spec"]["template"]["spec"]
    assert worker["terminationGracePeriodSeconds"] >= 2 * END_SECONDS


def test_what_lies_in_a_data_folder_is_never_opened_to_a_group_again() -> None:
    pod = written("StatefulSet/engramlog")["spec"]["template"]["spec"]
    assert pod["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"
    (mounted,) = [one["mountPath"] for one in pod["containers"][0]["volumeMounts"] if one["name"] == "data"]
    dockerfile = (KUBERNETES.parent / "image" / "Dockerfile").read_text("utf-8")
    assert f"ENGRAMLOG_DATA={mounted}/data" in dockerfile


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
def test_on_a_cluster_there_may_be_more() -> None:
    found = {_named(one): one for one in manifests("cluster")}
    settings = found["ConfigMap/engramlog"]["data"]
    assert (settings["ENGRAMLOG_PARTITIONS"], settings["ENGRAMLOG_MIN_REPLICAS"]) == ("1024", "1")
    assert found["ScaledObject/engramlog-worker"]["spec"]["maxReplicaCount"] == 64
    (_, _, cluster) = found["NetworkPolicy/engramlog-out"]["spec"]["egress"]
    assert cluster["to"][0]["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "redis-cluster"}}


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
