"""Render Zero to JupyterHub's chart with examples/kubernetes and check all of it: `make chart CHART=FOLDER`.

CHART is the folder `jupyterhub` of the chart's repository. The chart's schema validates the values, Helm renders the
templates, and every manifest, the grader's too, is validated against Kubernetes' API.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jsonschema
import yaml

HERE = Path(__file__).parents[1] / "examples/kubernetes"


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """The chart's defaults with this project's values on top, as Helm merges them."""
    inner = {name: merge(base[name], value) if isinstance(value, dict) and isinstance(base.get(name), dict) else value
             for name, value in over.items()}  # fmt: skip
    return base | inner


def value_faults(chart: Path) -> list[str]:
    """The errors that the chart's schema finds in this project's values, one line each."""
    own_values = yaml.safe_load((HERE / "values.yaml").read_text())
    defaults = yaml.safe_load((chart / "values.yaml").read_text())
    schema = yaml.safe_load((chart / "values.schema.yaml").read_text())
    found = jsonschema.Draft7Validator(schema).iter_errors(merge(defaults, own_values))
    return [f"values: {list(error.path)}: {error.message}" for error in found]


def main(chart: Path) -> int:
    """0 if schema, templates and Kubernetes' API agree, else 1; prints what does not.

    Raises SystemExit if the folder has no chart or a package is missing.
    """
    if not (chart / "Chart.yaml").is_file():
        raise SystemExit(f"{chart} has no chart: CHART is the folder `jupyterhub` of Zero to JupyterHub's repository")
    try:
        import kubernetes_validate
        from helm_python import Chart
        from helm_python.errors import HelmError
    except ImportError as error:
        raise SystemExit(f"{error.name} is not installed: `make chart CHART=…` installs it") from error

    faults, texts = value_faults(chart), {"grader.yaml": (HERE / "grader.yaml").read_text()}
    try:
        values = yaml.safe_load((HERE / "values.yaml").read_text())
        rendered = Chart.load(str(chart)).render(values, name="hub", namespace="hub")
        texts |= {name: text for name, text in rendered.items() if not name.endswith(".txt")}
    except HelmError as error:
        faults.append(f"templates: {error}")
    version, number = kubernetes_validate.latest_version(), 0
    for name, text in texts.items():
        for manifest in filter(None, yaml.safe_load_all(text)):
            number += 1
            try:
                kubernetes_validate.validate(manifest, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                faults.append(f"{name}: {manifest['kind']}: {error}")
    print(*faults, f"{number} manifests, Kubernetes {version}: {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
