"""The size that CI prints: what an installation has, without lessons and answers."""

import tomllib

from tools.size import PACKAGES, ROOT, lines_of, table


def test_the_wheels_packages_are_counted():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert sorted(PACKAGES.values()) == sorted(wheel["packages"])


def test_units_and_other_files_are_not_counted(tmp_path):
    for folder in PACKAGES.values():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").write_text("one = 1\n\ntwo = 2\n")
    (tmp_path / "course/units/01-one").mkdir(parents=True)
    (tmp_path / "course/units/01-one/lesson.py").write_text("many\n" * 100)
    (tmp_path / "tfkit/notes.md").write_text("many\n" * 100)
    assert lines_of(tmp_path) == dict.fromkeys(PACKAGES, 3)
    assert table(lines_of(tmp_path)).splitlines()[-1].split() == ["in", "all", "15"]
