"""The build hook: it builds the front end if that is missing, and packs the units' answers.

`python -m build` in a clean clone runs this for the sdist, which then holds the built front end; the wheel made of
that sdist needs neither Node.js nor network. A wheel or sdist without the front end is an error.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = ("labextension/package.json", "labextension/static/style.js", "static/model.js", "static/decoding.js")
EPOCH = (1980, 1, 1, 0, 0, 0)  # in the archives, so that the same answers have the same bytes
PACKED = ("right/*.py", "wrong/*.py", "edge/*.py", "*.toml")  # the folders that an installed program reads


class Hook(BuildHookInterface):
    """Runs before hatchling collects files; for wheels, editable ones and sdists."""

    def dependencies(self) -> list[str]:
        """jlpm is needed only where the front end is still to be built."""
        return ["jupyter-builder>=1.3"] if self._missing() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the front end if it is missing, and pack the answers of a real wheel. An error ends the build."""
        editable = version == "editable"
        if self._missing() and not editable:
            self._build_front_end()
        if self.target_name == "wheel" and not editable:
            self.scratch = Path(tempfile.mkdtemp(prefix="tfkit-course-"))
            for unit in sorted(Path(self.root, "course/units").glob("*/submissions")):
                archive = self.scratch / f"{unit.parent.name}.zip"
                pack(unit, archive)
                build_data["force_include"][str(archive)] = f"course/units/{unit.parent.name}/submissions.zip"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the packed files."""
        shutil.rmtree(getattr(self, "scratch", ""), ignore_errors=True)

    def _missing(self) -> list[str]:
        return [name for name in BUILT if not Path(self.root, "extension/tfkit_lab", name).is_file()]

    def _build_front_end(self) -> None:
        if not shutil.which("node") or not shutil.which("jlpm"):
            raise RuntimeError("the JupyterLab extension is built with Node.js 20 or newer and jlpm: install Node.js")
        self.app.display_info("building the JupyterLab extension (minutes the first time)")
        for command in (["jlpm", "install", "--immutable"], ["jlpm", "build"]):
            done = subprocess.run(command, cwd=Path(self.root, "extension"), capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-3000:]}")
        if missing := self._missing():
            raise RuntimeError(f"the front end was built, but without {', '.join(missing)}: see hatch_build.py")


def pack(submissions: Path, archive: Path) -> None:
    """Write the right and wrong answers below a unit's `submissions` into a zip."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(file for pattern in PACKED for file in submissions.glob(f"*/{pattern}")):
            entry = zipfile.ZipInfo(str(file.relative_to(submissions).as_posix()), EPOCH)
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
