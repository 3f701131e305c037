"""Build packaging/recipe.yaml, and compare the package with the wheel: `python -m tools.conda_recipe DIST`.

conda-forge builds it in an environment of its own packages, which cannot be reached everywhere. So a channel is made of
this environment: Python as links to the interpreter here, pip and hatchling as they are installed. rattler-build then
solves, builds and packs as there, from DIST's sdist in place of the one on PyPI. What the package needs to run is not
in that channel, so the recipe's tests are left to conda-forge. `make conda` installs rattler-build beside this.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from tfkit_course.command_line import make_parser
from tools.release import RECIPE, ROOT, version

SUBDIR = "linux-64"
BUILDERS = {  # what the recipe's host section names, and what that needs
    "pip": (), "hatchling": ("packaging", "pathspec", "pluggy", "trove-classifiers"),
    "packaging": (), "pathspec": (), "pluggy": (), "trove-classifiers": (),
}  # fmt: skip
SOURCE = re.compile(r"^  url: .*\n  sha256: .*$", re.MULTILINE)
MADE = ("INSTALLER", "REQUESTED", "direct_url.json")  # by pip, as it installs


class CondaError(RuntimeError):
    """The package cannot be built, or is not what it must be; the message says why."""


def pack(folder: Path, index: dict[str, Any], files: dict[str, bytes], links: dict[str, str]) -> None:
    """Write a conda package of these files and symbolic links, and its entry in the folder's repodata.json.

    `index`: name, version, depends and, for Python's packages, noarch.
    """
    folder.mkdir(parents=True, exist_ok=True)
    index = {"build": "0", "build_number": 0, "subdir": folder.name, **index}
    paths = [
        {
            "_path": name,
            "path_type": "softlink" if name in links else "hardlink",
            "size_in_bytes": len(files.get(name, b"")),
        }
        for name in (*files, *links)
    ]
    told = {"info/index.json": index, "info/paths.json": {"paths": paths, "paths_version": 1}}
    name = f"{index['name']}-{index['version']}-0.tar.bz2"
    with tarfile.open(folder / name, "w:bz2") as archive:
        for path, data in {**files, **{one: json.dumps(text).encode() for one, text in told.items()}}.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
        for path, target in links.items():
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    listing = folder / "repodata.json"
    known = json.loads(listing.read_text(encoding="utf-8")) if listing.exists() else {"packages": {}}
    known["packages"][name] = {**index, "size": (folder / name).stat().st_size}
    listing.write_text(json.dumps(known), encoding="utf-8")


def make_channel(folder: Path) -> None:
    """A channel of this environment's Python and of what builds a wheel. Raises PackageNotFoundError."""
    short, base = f"python{sys.version_info.major}.{sys.version_info.minor}", Path(sys.base_prefix, "bin")
    links = {f"bin/{short}": str(base / short), "bin/python3": short, "bin/python": short}
    files = {f"lib/{short}/site-packages/.keep": b"\n", "pyvenv.cfg": f"home = {base}\n".encode()}
    python = {"name": "python", "version": platform.python_version(), "depends": []}
    pack(folder / SUBDIR, python, files, links)
    for name, needed in BUILDERS.items():
        found = metadata.distribution(name)
        inside = [path for path in found.files or () if ".." not in path.parts and path.suffix != ".pyc"]
        files = {f"site-packages/{path}": Path(str(path.locate())).read_bytes() for path in inside}
        index = {"name": name, "version": found.version, "depends": ["python", *needed], "noarch": "python"}
        pack(folder / "noarch", index, files, {})


def with_source(recipe: str, sdist: Path) -> str:
    """The recipe with a file in place of the address on PyPI. Raises CondaError."""
    changed, number = SOURCE.subn(f"  path: {sdist.resolve()}", recipe)
    if number != 1:
        raise CondaError(f"{RECIPE} has {number} sources with url and sha256, and must have one")
    return changed


def build(sdist: Path, folder: Path) -> Path:
    """The package that rattler-build makes of the recipe. Raises ModuleNotFoundError, and what rattler-build raises."""
    from rattler_build import Stage0Recipe

    make_channel(folder / "channel")
    (folder / "recipe").mkdir()
    recipe = folder / "recipe/recipe.yaml"
    recipe.write_text(with_source((ROOT / RECIPE).read_text(encoding="utf-8"), sdist), encoding="utf-8")
    (made,) = Stage0Recipe.from_file(recipe).run_build(
        output_dir=folder / "out", channels=[(folder / "channel").as_uri()], package_format="tar.bz2"
    )
    return Path(made.packages[0])


def files_of_wheel(wheel: Path) -> set[str]:
    """What the wheel puts into an environment: files of Python's packages by their names, the others under data/."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    return {re.sub(r"^[^/]+\.data/data/", "data/", name) for name in names}


def files_of_package(package: Path) -> set[str]:
    """The same of a conda package, without what conda and pip add."""
    with tarfile.open(package) as archive:
        names = [one.name for one in archive.getmembers() if not one.isdir() and not one.name.startswith("info/")]
    made = [name for name in names if ".dist-info/" in name and PurePosixPath(name).name in MADE]
    site = "site-packages/"
    return {name.removeprefix(site) if name.startswith(site) else f"data/{name}" for name in names if name not in made}


def differences(wheel: Path, package: Path) -> Iterator[str]:
    """A line for each file that only one of them has."""
    one, other = files_of_wheel(wheel), files_of_package(package)
    yield from (f"{package.name} lacks {name}" for name in sorted(one - other))
    yield from (f"{package.name} holds {name}, which the wheel does not" for name in sorted(other - one))


def main(arguments: Sequence[str] | None = None) -> int:
    """1 with a line for each fault, else 0."""
    parser = make_parser(
        "tools.conda_recipe",
        "Build packaging/recipe.yaml with rattler-build from a folder's sdist, and compare the package with its wheel.",
        exits={0: "the package holds what the wheel holds", 1: "it does not", 2: "it could not be built"},
        examples=("python -m tools.conda_recipe dist",),
    )
    parser.add_argument(
        "dist", type=Path, metavar="DIST", help="the folder with sdist and wheel, as `make wheel` writes"
    )
    dist = parser.parse_args(arguments).dist
    stem = f"tfkit_course-{version()}"
    sdist, wheel = dist / f"{stem}.tar.gz", dist / f"{stem}-py3-none-any.whl"
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        parser.exit(2, "tools.conda_recipe: the channel is made on Linux with an x86-64 processor alone\n")
    if missing := [path.name for path in (sdist, wheel) if not path.is_file()]:
        parser.exit(2, f"tools.conda_recipe: {dist} has no {missing[0]}: `make wheel`\n")
    with tempfile.TemporaryDirectory(prefix="conda-") as folder:
        os.environ["RATTLER_CACHE_DIR"] = f"{folder}/cache"  # the channel's packages are no others' of their names
        try:
            package = build(sdist, Path(folder))
        except (ModuleNotFoundError, CondaError) as error:
            parser.exit(2, f"tools.conda_recipe: {error}: `make conda`\n")
        found = list(differences(wheel, package))
        print("\n".join(found) or f"{package.name}: {len(files_of_package(package))} files, as the wheel has them")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
