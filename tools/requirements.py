"""Print the requirements in pyproject.toml, so that they can be installed before the project is built: with the extras
named as arguments, or by default with every extra but `kernels` and `site`. `kernels` takes a gigabyte, and torch's
CUDA build includes it: `make nightly` installs it, and `make site` installs `site`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

parsed = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())
project = parsed["project"]
extras = project["optional-dependencies"]
wanted = [*parsed["build-system"]["requires"], *project["dependencies"]]
for name in sys.argv[1:] or [extra for extra in extras if extra not in ("kernels", "site")]:
    wanted += [requirement for requirement in extras[name] if not requirement.startswith(project["name"])]
print("\n".join(requirement.replace(" ", "") for requirement in wanted))
