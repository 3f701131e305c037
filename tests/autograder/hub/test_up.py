"""`autograder hub`: what it writes, and what it says where something is missing; tests/multiuser starts it."""

from __future__ import annotations

import os
import re
import shlex
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from traitlets.config import Config

from autograder import cli, sandbox
from autograder.hub import class_file, config, kubernetes, needs
from autograder.hub.class_file import ClassFileError

ROOT = Path(__file__).parents[3]
TWO = """
[[course]]
name = "tfkit"
instructor = "teacher"
students = ["ada"]
[[course]]
name = "nlp"
instructor = "grace"
folder = "/srv/nlp"
students = ["ada", "ben"]
"""


@pytest.fixture
def sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that lacks nothing: root, with accounts for all, free ports and folders open to all."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path.replace("~", "/nowhere/"))
    monkeypatch.setattr(config, "program", lambda name: f"/opt/tfkit/bin/{name}")
    monkeypatch.setattr(sandbox, "choose", lambda: None)
    monkeypatch.setattr(needs, "_taken", lambda host, port: "")
    monkeypatch.setattr(needs, "_closed", lambda folder: False)


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["hub", *map(str, words)])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def loaded(text: str, folder: Path) -> Config:
    found = Config()
    exec(compile(text, "jupyterhub_config.py", "exec"), {
        "get_config": lambda: found, "__file__": str(folder / "jupyterhub_config.py"),
        "load_subconfig": lambda path: found.__setattr__("loaded", path),
    })  # fmt: skip
    return found


def test_one_command_writes_the_class_and_becomes_the_hub(sound, tmp_path, capsys, monkeypatch):
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, words: started.append(words) or sys.exit(0))
    monkeypatch.setattr(os, "chdir", lambda folder: None)
    folder = tmp_path / "class"
    code, said, error = run(capsys, "up", folder, "--instructor", "teacher", "--students", "ada", "ben")
    assert (code, error) == (0, "") and "http://127.0.0.1:8000" in said
    assert f"{shlex.quote(sys.executable)} -m course.build /nowhere/teacher/course" in said
    assert started == [[sys.executable, "-m", "jupyterhub", "-f", str(folder / config.CONFIG)]]
    assert (folder / "exchange").stat().st_mode & 0o777 == 0o777 and (folder / "state").stat().st_mode & 0o777 == 0o700
    found = loaded((folder / config.CONFIG).read_text(), folder)
    assert found.Authenticator.allowed_users == {"teacher", "ada", "ben"}
    assert found.JupyterHub.db_url == f"sqlite:///{folder}/state/jupyterhub.sqlite"
    (service,) = found.JupyterHub.services
    assert service["command"] == ["/opt/tfkit/bin/autograder", "serve", "/nowhere/teacher/course"]
    spawner = SimpleNamespace(user=SimpleNamespace(name="ada"), environment=dict(found.Spawner.environment))
    found.Spawner.pre_spawn_hook(spawner)
    assert spawner.environment["NBGRADER_EXCHANGE"] == str(folder / "exchange")
    assert (Path(spawner.environment["JUPYTER_CONFIG_PATH"]) / "nbgrader_config.py").is_file()
    assert run(capsys, "up", folder)[0] == 0 and len(started) == 2  # the second time from what was written


def test_servers_and_services_find_the_programs_of_this_environment(sound, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/sbin:/usr/bin")  # what sudo leaves
    made = loaded(config.text(class_file.parse(class_file.load(TWO, ""), tmp_path, "")), tmp_path)
    environments = [made.Spawner.environment, *(one["environment"] for one in made.JupyterHub.services)]
    assert len(environments) == 3
    assert {one["PATH"] for one in environments} == {f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin"}


def test_a_class_may_be_in_a_folder_of_any_name(sound, tmp_path):
    folder = tmp_path / 'the "best" class\\1 {a}'
    made = loaded(config.text(class_file.parse(class_file.load(TWO, ""), folder, "")), folder)
    assert made.JupyterHub.db_url == f"sqlite:///{folder}/state/jupyterhub.sqlite"
    assert made.JupyterHub.cookie_secret_file == f"{folder}/state/cookie_secret"
    assert made.ConfigurableHTTPProxy.pid_file == f"{folder}/state/proxy.pid"


def test_a_dry_run_prints_the_configuration_and_writes_nothing(sound, tmp_path, capsys):
    folder = tmp_path / "class"
    code, said, error = run(capsys, "up", folder, "--instructor", "teacher", "--dry-run")
    assert (code, error) == (0, "") and not folder.exists()
    assert loaded(said, folder).JupyterHub.bind_url == "http://127.0.0.1:8000"


def test_two_courses_own_settings_and_another_spawner(sound, tmp_path):
    (tmp_path / "class.toml").write_text('[hub]\nconfig = "own.py"\nspawner = "systemd"\n' + TWO)
    (tmp_path / "own.py").touch()
    found = class_file.read(tmp_path)
    assert needs.lacks(found) == []
    made = loaded(config.text(found), tmp_path)
    assert made.loaded == str(tmp_path / "own.py") and made.JupyterHub.spawner_class == "systemd"
    assert [one["url"] for one in made.JupyterHub.services] == ["http://127.0.0.1:10101", "http://127.0.0.1:10102"]
    assert made.JupyterHub.services[1]["command"][-1] == "/srv/nlp"


@pytest.mark.parametrize(("text", "said"), [
    ("[[course]\n", "no TOML"),
    ('[hubs]\n[[course]]\nname="a"\ninstructor="b"\n', "'hubs' is no table"),
    ("[hub]\n", "at least one [[course]]"),
    ('[[course]]\nname="a"\n', "instructor is missing"),
    ('[[course]]\nname="a"\ninstructor="b"\nstudent=["c"]\n', "'student' is no key"),
    ('[[course]]\nname="a"\ninstructor="b"\nstudents="c"\n', "must be a list of names"),
    ('[hub]\nhub_port=true\n[[course]]\nname="a"\ninstructor="b"\n', "must be a whole number"),
    ('[[course]]\nname="A course"\ninstructor="b"\n', "small letters"),
    ('[[course]]\nname="a"\ninstructor="b; rm"\n', "no name of an account"),
    (TWO.replace("grace", "teacher"), "teacher is the instructor of two courses"),
    (TWO.replace("nlp", "tfkit"), "tfkit is the course of two courses"),
    (TWO.replace('"ben"', '"teacher"'), "teacher is an instructor and cannot be a student"),
    ('[hub]\naddress="here"\n' + TWO, "must be such as"),
    ('[hub]\naddress="http://127.0.0.1:99999"\n' + TWO, "must be such as"),
    ('[hub]\naddress="http://127.0.0.1:abc"\n' + TWO, "must be such as"),
    ('[hub]\naddress="http://[::1"\n' + TWO, "must be such as"),
    ('[hub]\naddress="https://hub.example.edu:443"\n' + TWO, "needs a key and a certificate"),
    ('[hub]\nconfig="jupyterhub_config.py"\n' + TWO, "would load itself: put your own settings into another file"),
    ('[hub]\nconfig="./jupyterhub_config.py"\n' + TWO, "would load itself"),
    ("[hub]\nhub_port=70000\n" + TWO, "hub_port = 70000 must be from 1 to 65535"),
    ("[hub]\nproxy_port=0\n" + TWO, "proxy_port = 0 must be from 1"),
    ("[hub]\nservice_port=-1\n" + TWO, "service_port = -1 must be from 1"),
    ("[hub]\nservice_port=65535\n" + TWO, "must be from 1 to 65534"),  # two courses have two services
])  # fmt: skip
def test_what_is_wrong_in_a_class_file_is_named(text, said, tmp_path):
    (tmp_path / "class.toml").write_text(text)
    with pytest.raises(ClassFileError, match=re.escape(said)) as error:
        class_file.read(tmp_path)
    assert str(error.value).startswith(str(tmp_path / "class.toml"))


def test_each_lack_of_the_machine_is_named_with_what_to_do(sound, tmp_path, monkeypatch):
    (tmp_path / "class.toml").write_text('[hub]\nconfig = "own.py"\n' + TWO)
    (tmp_path / "exchange").mkdir(mode=0o755)
    found = class_file.read(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(config, "program", lambda name: "")
    monkeypatch.setattr(needs, "_taken", lambda host, port: "address already in use" if port == 8001 else "")
    monkeypatch.setattr(needs, "_closed", lambda folder: folder == tmp_path)
    monkeypatch.setattr(sandbox, "choose", lambda: (_ for _ in ()).throw(sandbox.SandboxError("no sandbox works here")))
    said = "\n".join(needs.lacks(found))
    for words in ("npm install -g configurable-http-proxy", "sudo ", "useradd --create-home",
                  "teacher, grace, ada, ben",
                  f"users cannot enter {tmp_path}", f"chmod 777 {tmp_path / 'exchange'}", "own.py is not there",
                  "127.0.0.1:8001 cannot be opened (address already in use)", "set proxy_port in [hub]",
                  "no sandbox works here"):  # fmt: skip
        assert words in said, words


def test_who_is_taken_out_of_the_class_cannot_log_in_again(tmp_path):
    """JupyterHub keeps everybody who ever logged in, and lets them in again unless told otherwise."""
    (tmp_path / "class.toml").write_text(TWO)
    found = class_file.read(tmp_path)
    assert loaded(config.text(found), tmp_path).Authenticator.allow_existing_users is False
    values = yaml.safe_load(kubernetes.files(found)["values.yaml"])
    assert values["hub"]["config"]["Authenticator"]["allow_existing_users"] is False


def test_https_is_served_with_a_file_that_may_set_the_key(tmp_path):
    (tmp_path / "class.toml").write_text('[hub]\naddress = "https://hub.example.edu:443"\nconfig = "own.py"\n' + TWO)
    assert class_file.read(tmp_path).hub.address == "https://hub.example.edu:443"


def test_users_can_read_their_settings_whatever_the_umask(tmp_path):
    folder = tmp_path / "new/class"
    found = class_file.parse(class_file.load(TWO, ""), folder, "")
    before = os.umask(0o077)
    try:
        config.write(found)
    finally:
        os.umask(before)
    settings = [one for who in ("student", "instructor") for one in (folder / who).rglob("*")]
    assert folder / "student/labconfig/page_config.json" in settings
    for one in [folder.parent, folder, folder / "student", folder / "instructor", *settings]:
        assert one.stat().st_mode & 0o777 == (0o755 if one.is_dir() else 0o644), one
    assert (folder / "exchange").stat().st_mode & 0o777 == 0o777 and (folder / "state").stat().st_mode & 0o777 == 0o700


def test_a_configuration_of_somebody_else_is_not_replaced(sound, tmp_path, capsys):
    (tmp_path / config.CONFIG).write_text("c.JupyterHub.port = 9000\n")
    code, _, error = run(capsys, "up", tmp_path, "--instructor", "teacher")
    assert code == 2 and f"did not write {tmp_path / config.CONFIG}" in error and "`config` in [hub]" in error
    found = class_file.parse(class_file.load(TWO, ""), tmp_path, "")
    with pytest.raises(FileExistsError, match="did not write"):
        config.write(found)
    assert [one.name for one in tmp_path.iterdir()] == [config.CONFIG]
    assert (tmp_path / config.CONFIG).read_text() == "c.JupyterHub.port = 9000\n"


def test_the_configuration_is_replaced_whole(tmp_path, monkeypatch):
    found = class_file.parse(class_file.load(TWO, ""), tmp_path, "")
    assert config.write(found).read_text().startswith("# generated by `autograder hub up` and rewritten at each start")
    before = config.write(found).read_text()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("cut short")))
    with pytest.raises(OSError, match="cut short"):
        config.write(class_file.parse(class_file.load(TWO.replace("ben", "eve"), ""), tmp_path, ""))
    assert (tmp_path / config.CONFIG).read_text() == before and not list(tmp_path.glob("*.tmp"))


def test_the_same_command_is_taken_once_more(sound, tmp_path, capsys, monkeypatch):
    """After something was missing, when nothing has been written, and after a start."""
    monkeypatch.setattr(os, "execv", lambda *_: sys.exit(0))
    monkeypatch.setattr(os, "chdir", lambda folder: None)
    folder = tmp_path / "class"
    words = ["up", folder, "--instructor", "teacher", "--students", "ada"]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    code, _, error = run(capsys, *words)
    assert code == 2 and not folder.exists()
    assert f"hub up {folder} --instructor teacher --course tfkit --address " in error and "--students ada" in error
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert run(capsys, *words)[0] == 0 and (folder / "class.toml").exists()
    assert run(capsys, *words)[0] == 0
    code, _, error = run(capsys, *words, "ben")
    assert code == 2 and "says something else" in error


def test_another_spawner_needs_accounts_for_grading_services_only(sound, tmp_path, monkeypatch):
    text = '[hub]\nspawner = "systemd"\n' + TWO
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("pwd.getpwnam", lambda name: SimpleNamespace(pw_uid=1000 + (name != "teacher")))
    (tmp_path / "class.toml").write_text(text)
    root, accounts = needs.lacks(class_file.read(tmp_path))
    assert "grading service as grace" in root and "serve = false" in root  # the teacher's own needs no root
    assert accounts.startswith("no account on this machine: teacher, grace;")
    (tmp_path / "class.toml").write_text(text.replace("[[course]]", "[[course]]\nserve = false"))
    assert needs.lacks(class_file.read(tmp_path)) == []


def test_a_taken_port_is_seen():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        assert needs._taken("127.0.0.1", one.getsockname()[1]) == "address already in use"
    assert needs._taken("127.0.0.1", 0) == ""
    assert needs._taken("é..b", 0) == "no name of a machine"


def test_a_home_that_others_read_and_a_password_in_the_clear_are_remarked(sound, tmp_path, monkeypatch):
    monkeypatch.setattr(config, "home", lambda user: str(tmp_path))
    tmp_path.chmod(0o755)
    (tmp_path / "class.toml").write_text('[hub]\naddress = "http://0.0.0.0:80"\n[[course]]\nname="a"\ninstructor="b"\n')
    first, second = needs.remarks(class_file.read(tmp_path))
    assert f"chmod 700 {tmp_path}" in first and "not encrypted" in second


def test_refusals_on_the_command_line(sound, tmp_path, capsys):
    assert "--instructor NAME" in run(capsys, "up", tmp_path)[2]
    assert "--students goes with --instructor" in run(capsys, "up", tmp_path, "--students", "ada")[2]
    (tmp_path / "class.toml").write_text(TWO)
    code, _, error = run(capsys, "up", tmp_path, "--instructor", "x")
    assert code == 2 and "is there already and says" in error and (tmp_path / "class.toml").read_text() == TWO


def test_the_examples_for_kubernetes_are_those_of_the_examples_class():
    files = kubernetes.files(class_file.read(ROOT / "examples/hub"))
    assert files.keys() == {path.name for path in (ROOT / "examples/kubernetes").iterdir()}
    for name, text in files.items():
        assert (ROOT / "examples/kubernetes" / name).read_text() == text, (
            f"{name}: `autograder hub kubernetes examples/hub -o examples/kubernetes` writes it"
        )


def test_names_that_yaml_takes_for_something_else_stay_names(tmp_path):
    (tmp_path / "class.toml").write_text(
        '[hub]\nregistry = "host: 5000"\n[[course]]\nname = "2026"\ninstructor = "no"\nstudents = ["null", "on"]\n'
    )
    files = kubernetes.files(class_file.read(tmp_path))
    values = yaml.safe_load(files["values.yaml"])
    assert values["hub"]["config"]["Authenticator"]["allowed_users"] == ["no", "null", "on"]
    assert values["hub"]["loadRoles"]["grading-2026"]["users"] == ["no"]
    assert values["singleuser"]["image"]["name"] == "host: 5000/tfkit-lab"
    (grader,) = list(yaml.safe_load_all(files["grader.yaml"]))[1]["spec"]["template"]["spec"]["containers"]
    assert grader["env"][0] == {"name": "TFKIT_COURSE", "value": "2026"}
    assert grader["image"].startswith("host: 5000/tfkit-grader:")


def test_two_courses_have_two_graders_on_kubernetes(tmp_path, capsys):
    (tmp_path / "class.toml").write_text(TWO)
    code, said, error = run(capsys, "kubernetes", tmp_path, "-o", tmp_path / "out")
    assert (code, error) == (0, "") and said.count("wrote") == 3
    values = yaml.safe_load((tmp_path / "out/values.yaml").read_text())["hub"]
    assert set(values["services"]) == {"grader-tfkit", "grader-nlp"}
    assert values["loadRoles"]["grading-nlp"]["users"] == ["grace"]
    assert '{"teacher": "tfkit", "grace": "nlp"}' in values["extraConfig"]["10-courses"]
    claim, deployment, service = yaml.safe_load_all((tmp_path / "out/grader-nlp.yaml").read_text())
    assert {one["metadata"]["name"] for one in (deployment, service)} == {"grader-nlp"}
    assert claim["metadata"]["name"] == "course-nlp"
