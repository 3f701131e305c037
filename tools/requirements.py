"""Print what pyproject.toml asks for, so that it can be installed before the project is built: with the extras named as
arguments, or with every extra but `kernels` and `site` where none is named. The first is a gigabyte, and torch's CUDA
build has it; the second is installed by `make site`."""

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
