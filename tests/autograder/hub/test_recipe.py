"""The recipe of `autograder hub up` without a Hub: who gets which settings, and what each course's service is."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from traitlets.config import Config

ROOT = Path(__file__).parents[3] / "autograder/hub/recipe"


def load(**changed: object) -> Config:
    """The configuration, with other values for the names at its head."""
    text = (ROOT / "jupyterhub_config.py").read_text()
    for name, value in changed.items():
        text, found = re.subn(rf"^{name} = .*$", f"{name} = {value!r}", text, flags=re.M)
        assert found == 1, name
    config = Config()
    exec(compile(text, str(ROOT / "jupyterhub_config.py"), "exec"),
         {"get_config": lambda: config, "__file__": str(ROOT / "jupyterhub_config.py")})  # fmt: skip
    return config


def environment(config: Config, user: str) -> dict[str, str]:
    """What the user's server is told."""
    spawner = SimpleNamespace(user=SimpleNamespace(name=user), environment={})
    config.Spawner.pre_spawn_hook(spawner)
    return spawner.environment


def test_one_course_and_no_service():
    config = load()
    assert environment(config, "teacher")["TFKIT_COURSE"] == "tfkit"
    assert environment(config, "teacher")["TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR"] == "1"
    assert environment(config, "ada") == {"JUPYTER_CONFIG_PATH": str(ROOT / "student")}
    assert config.JupyterHub.services == config.JupyterHub.load_roles == []


def test_the_documentation_fetches_everything_that_the_units_use():
    folder = ROOT.parents[2]
    lessons = "".join(path.read_text(encoding="utf-8") for path in (folder / "course/units").glob("*/lesson.py"))
    used = set(re.findall(r"tfkit get ([A-Za-z][\w-]+)", lessons))
    page = (folder / "docs/jupyterhub.md").read_text(encoding="utf-8")
    assert set(re.search(r"for name in (.*); do tfkit get", page)[1].split()) == used


def test_two_courses_each_with_its_service():
    two = {"teacher": "tfkit", "grace": "nlp"}
    config = load(COURSES=two, SERVED={"teacher": "/home/teacher/course", "grace": "/home/grace/course"})
    grace = environment(config, "grace")
    assert grace["JUPYTER_CONFIG_PATH"] == str(ROOT / "instructor") and grace["TFKIT_COURSE"] == "nlp"
    assert environment(config, "ada")["TFKIT_COURSE_FOLDERS"] == "yes"
    services = {one["name"]: one for one in config.JupyterHub.services}
    assert set(services) == {"grader-tfkit", "grader-nlp"} and len({one["url"] for one in services.values()}) == 2
    assert services["grader-nlp"]["user"] == "grace" and services["grader-nlp"]["command"][1:] == [
        "serve",
        "/home/grace/course",
    ]
    assert services["grader-nlp"]["environment"]["TFKIT_COURSE"] == "nlp"
    assert {one["cwd"] for one in services.values()} == {"/"}  # the Hub's own may be closed to them
    (role,) = [one for one in config.JupyterHub.load_roles if one["users"] == ["grace"]]
    assert role["scopes"] == ["access:services!service=grader-nlp"]


@pytest.mark.parametrize("name", ["", "nlp"])
def test_a_course_is_called_as_its_environment_says(name, tmp_path, monkeypatch):
    from autograder.cluster.course import settings_of
    from autograder.nbgrader import config

    monkeypatch.setenv("TFKIT_COURSE", name) if name else monkeypatch.delenv("TFKIT_COURSE", raising=False)
    config.install(tmp_path)
    assert settings_of(tmp_path).coursedir.course_id == (name or "tfkit")
