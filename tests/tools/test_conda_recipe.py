"""What `make conda` makes of the recipe, of the environment and of two archives; rattler-build itself runs at night."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from tools import conda_recipe
from tools.release import RECIPE, ROOT


def test_the_recipe_is_built_from_the_sdist_that_lies_here(tmp_path: Path) -> None:
    recipe = (ROOT / RECIPE).read_text(encoding="utf-8")
    changed = yaml.safe_load(conda_recipe.with_source(recipe, tmp_path / "a.tar.gz"))
    assert changed["source"] == {"path": str(tmp_path / "a.tar.gz")}
    assert {**changed, "source": 0} == {**yaml.safe_load(recipe), "source": 0}
    with pytest.raises(conda_recipe.CondaError, match="has 0 sources"):
        conda_recipe.with_source("source:\n  path: .\n", tmp_path / "a.tar.gz")


def test_the_channel_has_what_the_recipe_builds_with(tmp_path: Path) -> None:
    named = {
        line.split()[0] for line in yaml.safe_load((ROOT / RECIPE).read_text(encoding="utf-8"))["requirements"]["host"]
    }
    assert named <= {"python", *conda_recipe.BUILDERS}
    needed = {one for needs in conda_recipe.BUILDERS.values() for one in needs}
    assert needed <= conda_recipe.BUILDERS.keys()


def test_a_package_is_listed_as_it_is_packed(tmp_path: Path) -> None:
    index = {"name": "one", "version": "1.0", "depends": ["python"], "noarch": "python"}
    folder = tmp_path / "noarch"
    conda_recipe.pack(folder, index, {"site-packages/one.py": b"x = 1\n"}, {"bin/one": "two"})
    conda_recipe.pack(folder, {**index, "name": "two"}, {}, {})
    listed = json.loads((folder / "repodata.json").read_text())["packages"]
    assert {name: one["subdir"] for name, one in listed.items()} == {
        "one-1.0-0.tar.bz2": "noarch", "two-1.0-0.tar.bz2": "noarch"}  # fmt: skip
    with tarfile.open(folder / "one-1.0-0.tar.bz2") as archive:
        paths = json.load(archive.extractfile("info/paths.json"))["paths"]
        assert {one["_path"]: one["path_type"] for one in paths} == {
            "site-packages/one.py": "hardlink", "bin/one": "softlink"}  # fmt: skip
        assert archive.getmember("bin/one").linkname == "two"
        assert json.load(archive.extractfile("info/index.json"))["depends"] == ["python"]


def test_a_file_that_only_one_of_them_has_is_named(tmp_path: Path) -> None:
    wheel, folder = tmp_path / "a.whl", tmp_path / "noarch"
    with zipfile.ZipFile(wheel, "w") as made:
        for name in ("tfkit/a.py", "tfkit/b.py", "a-1.0.data/data/share/x.js", "a-1.0.dist-info/RECORD"):
            made.writestr(name, "")
    there = ("site-packages/tfkit/a.py", "share/x.js", "share/y.js", "site-packages/a-1.0.dist-info/RECORD",
             "site-packages/a-1.0.dist-info/INSTALLER")  # fmt: skip
    conda_recipe.pack(folder, {"name": "a", "version": "1.0", "depends": []}, dict.fromkeys(there, b""), {})
    assert list(conda_recipe.differences(wheel, folder / "a-1.0-0.tar.bz2")) == [
        "a-1.0-0.tar.bz2 lacks tfkit/b.py",
        "a-1.0-0.tar.bz2 holds data/share/y.js, which the wheel does not",
    ]


def test_a_folder_without_the_wheel_is_refused_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        conda_recipe.main([str(tmp_path)])
    assert stopped.value.code == 2
    assert f"{tmp_path} has no tfkit_course-" in capsys.readouterr().err
