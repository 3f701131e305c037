"""examples/kubernetes: the two files agree with each other, and with the command that they run."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from autograder import cli

ROOT = Path(__file__).parents[1] / "examples/kubernetes"
HUB = Path(__file__).parents[1] / "autograder/hub/recipe"


def test_the_grader_is_the_service_that_the_hub_knows():
    values = yaml.safe_load((ROOT / "values.yaml").read_text())
    claim, deployment, service = yaml.safe_load_all((ROOT / "grader.yaml").read_text())
    (name,) = values["hub"]["services"]
    address = f"http://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    assert values["hub"]["services"][name]["url"] == address
    (role,) = values["hub"]["loadRoles"].values()
    assert role["scopes"] == [f"access:services!service={name}"]
    pod = deployment["spec"]["template"]["spec"]
    (grader,) = pod["containers"]
    env = {one["name"]: one.get("value", one.get("valueFrom")) for one in grader["env"]}
    assert env["JUPYTERHUB_API_TOKEN"]["secretKeyRef"]["key"] == f"hub.services.{name}.apiToken"
    assert env["JUPYTERHUB_CLIENT_ID"] == f"service-{name}" and env["JUPYTERHUB_SERVICE_PREFIX"] == f"/services/{name}/"
    assert grader["readinessProbe"]["httpGet"]["path"] == env["JUPYTERHUB_SERVICE_PREFIX"] + "health"
    assert env["JUPYTERHUB_SERVICE_URL"].endswith(f":{grader['ports'][0]['containerPort']}")
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert pod["securityContext"]["runAsNonRoot"] and grader["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert grader["args"][0] == "autograder"
    parsed = cli._parser().parse_args(grader["args"][1:])
    assert parsed.run is cli._serve and parsed.workers == 4


def test_the_hubs_settings_are_python():
    values = yaml.safe_load((ROOT / "values.yaml").read_text())
    texts = [*values["hub"]["extraConfig"].values()]
    texts += [one["stringData"] for one in values["singleuser"]["extraFiles"].values() if "stringData" in one]
    assert len(texts) == 3 and "TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR" in texts[0]
    for text in texts:
        compile(text, "values.yaml", "exec")


def test_users_get_the_settings_of_the_example_without_kubernetes():
    """The same folders, but for the exchange: what students are not offered, and the formgrader's frame."""
    files = yaml.safe_load((ROOT / "values.yaml").read_text())["singleuser"]["extraFiles"].values()
    found = {one["mountPath"].removeprefix("/etc/tfkit/"): one for one in files}
    assert {str(path.relative_to(HUB)) for path in HUB.glob("*/**/*") if path.is_file()} == set(found)
    for path, one in found.items():
        if path.endswith(".json"):
            assert one["data"] == json.loads((HUB / path).read_text()), path
        else:
            assert "configureExchange(c)" in one["stringData"]
    assert "ngshare-exchange" in (ROOT.parents[1] / "Dockerfile").read_text()
