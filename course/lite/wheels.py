"""Wheels for the browser's kernel, repacked from the installed packages: nothing is downloaded."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path, PurePath

from course.settings import LessonError
from tfkit_course import install

OURS = ("tfkit", "autograder", "course", "tfkit_course", "tfkit_lab")
UNWANTED = {"__pycache__", "labextension", "node_modules", "playground"}  # the last: of the site's first page
BROWSER_TORCH = Path(__file__).with_name("browser_torch")  # a package that is called torch where it is used
PURE = "Wheel-Version: 1.0\nGenerator: course.lite\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
Member = tuple[str, bytes]


def project_wheel() -> tuple[str, list[Member]]:
    """The file name and the members of this project's wheel, without parts that only a server needs."""
    found = metadata.distribution("tfkit-course")
    members = [member for package in OURS for member in _package(package)]
    for name in ("METADATA", "entry_points.txt"):
        members.append((f"{_info(found)}/{name}", (found.read_text(name) or "").encode()))
    return f"{_stem(found)}-py3-none-any.whl", members


def distribution(name: str) -> tuple[str, list[Member]]:
    """The same for an installed distribution that is pure, or pure without the modules that mypyc compiled.

    Raises LessonError for another one.
    """
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise LessonError(f"{name} is not installed, but the browser kernel needs it: {install('lite')}") from None
    members = []
    for file in found.files or []:
        inside = file.parts[0] not in ("..", "") and "__pycache__" not in file.parts
        if file.suffix in (".so", ".pyd"):
            if _has_source(file, found.files or []):
                continue
            raise LessonError(f"{name} is compiled for this machine, so it cannot run in the browser")
        if inside and file.name not in ("RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json"):
            members.append((file.as_posix(), Path(str(file.locate())).read_bytes()))
    return f"{_stem(found)}-py3-none-any.whl", members


def browser_torch_wheel() -> tuple[str, list[Member]]:
    """The wheel `torch` of a tab without a build of torch: BROWSER_TORCH, which completes pyborch."""
    version = f"0+pyborch.{metadata.version('pyborch')}"
    about = f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\nSummary: Stands in for torch in a tab\n"
    members = [(f"torch/{file.name}", file.read_bytes()) for file in sorted(BROWSER_TORCH.glob("*.py"))]
    return f"torch-{version}-py3-none-any.whl", [*members, (f"torch-{version}.dist-info/METADATA", about.encode())]


def write_wheel(folder: Path, name: str, members: Iterable[Member]) -> Path:
    """The wheel of these members, the same bytes for the same members, with its RECORD."""
    info = "-".join(name.split("-")[:2]) + ".dist-info"
    whole = [*sorted(members), (f"{info}/WHEEL", PURE.encode())]
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in whole)
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, data in [*whole, (f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode())]:
            packed.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return folder / name


def _package(name: str) -> Iterator[Member]:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise LessonError(f"the package {name} is not installed, so it cannot be packed for the browser")
    root = Path(spec.origin).parent
    for file in sorted(root.rglob("*")):
        inside = file.relative_to(root)
        if file.is_file() and not UNWANTED & set(inside.parts) and file.suffix not in (".pyc", ".mp3", ".png"):
            yield f"{name}/{inside.as_posix()}", file.read_bytes()


def _has_source(compiled: PurePath, files: Sequence[PurePath]) -> bool:
    """Whether Python runs the same without this file: mypyc's own module, or a compiled module that comes with its
    source."""
    module = compiled.name.split(".")[0]
    return module.endswith("__mypyc") or compiled.with_name(f"{module}.py") in files


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _stem(found: metadata.Distribution) -> str:
    return f"{found.metadata['Name'].replace('-', '_')}-{found.version}"


def _info(found: metadata.Distribution) -> str:
    return f"{_stem(found)}.dist-info"
