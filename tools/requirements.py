"""Print what pyproject.toml asks for, every extra included, so that it can be installed before the project is built."""

from __future__ import annotations

import tomllib
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())
wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
for extra in project["project"]["optional-dependencies"].values():
    wanted += extra
print("\n".join(requirement.replace(" ", "") for requirement in wanted))
