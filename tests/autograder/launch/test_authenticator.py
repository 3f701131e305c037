"""The authenticator in a real JupyterHub: a launch logs its user in, and says where scores go."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests

from autograder.launch import platforms
from autograder.launch.flow import Launch, LaunchFlow
from autograder.launch.platforms import UsernamePolicy
from autograder.report import lti

from ...multiuser.test_hub import Hub, ports
from .conftest import answer

CONFIG = """
from autograder.launch.authenticator import LTIAuthenticator
c.JupyterHub.authenticator_class = LTIAuthenticator
c.LTIAuthenticator.platforms_file = {file!r}
c.LTIAuthenticator.assignments = {{"tfkit": {{"03-heads": 5}}}}
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.ConfigurableHTTPProxy.command = [{bin!r} + "/configurable-http-proxy"]
c.JupyterHub.services = [{{"name": "test", "api_token": "t" * 32}}]
c.JupyterHub.load_roles = [{{"name": "test", "services": ["test"], "scopes": ["read:users", "read:groups"]}}]
"""


@pytest.fixture
def hub(platform, tmp_path):
    pytest.importorskip("jupyterhub", reason="JupyterHub is not installed: pip install jupyterhub")
    port, inner, proxy = ports(3)
    own = Path(sys.executable).parent
    text = CONFIG.format(file=str(platform.file(tmp_path)), port=port, hub=inner, proxy=proxy, bin=str(own))
    (tmp_path / "config.py").write_text(text)
    env = os.environ | {"PATH": os.pathsep.join([str(own), os.environ["PATH"]])}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "jupyterhub", "-f", "config.py"],
                                   cwd=tmp_path, env=env, stdout=log, stderr=log)  # fmt: skip
    found = Hub(port, "t" * 32)
    try:
        found.wait(lambda: found.ask("GET", "/hub/api/").ok)
        yield found
    except TimeoutError:
        pytest.fail((tmp_path / "log").read_text()[-3000:])
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.parametrize("names", ["", 'name = "north"\n', 'name = "north"\nuse_email = true\n'])
def test_passback_calls_users_as_their_launch_does(platform, tmp_path, names):
    pytest.importorskip("jupyterhub", reason="JupyterHub is not installed: pip install jupyterhub")
    from autograder.launch.authenticator import LTIAuthenticator

    flow = LaunchFlow(platforms.read(platform.file(tmp_path, platform.table(names))))
    services = (f"{platform.url}/columns", f"{platform.url}/members")
    found = Launch("ada", "Ada", False, "tfkit", platform.url, "tool-1", *services, "", False, "")
    LTIAuthenticator.save_services(SimpleNamespace(flow=flow), found)
    (tmp_path / "lti.toml").symlink_to(tmp_path / "state/tfkit.toml")
    known = lti.platform(tmp_path)
    assert UsernamePolicy(known.name, known.use_email) == flow.platforms.users[platform.url, "tool-1"]
    assert ("name" in (tmp_path / "lti.toml").read_text()) == bool(names)  # the files of running courses don't change


def launch(hub, platform, claims):
    """What the launch answers, and the browser that was used."""
    browser = requests.Session()
    asked = browser.get(f"{hub.url}/hub/lti/login", params=platform.login(), allow_redirects=False)
    assert asked.status_code == 302 and asked.headers["Location"].startswith(f"{platform.url}/login"), asked.text
    said = answer(asked.headers["Location"])
    form = {"id_token": platform.token(claims(said["nonce"])), "state": said["state"]}
    return browser.post(said["redirect_uri"], data=form, allow_redirects=False), browser


@pytest.mark.slow
def test_a_launch_is_a_login(hub, platform, tmp_path):
    done, browser = launch(hub, platform, platform.claims)
    assert done.status_code == 302 and done.headers["Location"].endswith("/hub/user-redirect/lab"), done.text
    home = browser.get(f"{hub.url}/hub/home")
    assert home.status_code == 200 and "ada" in home.text
    assert hub.ask("GET", "/hub/api/users/ada").json()["groups"] == ["course-tfkit"]
    kept = tomllib.loads((tmp_path / "state/tfkit.toml").read_text())
    assert kept["lineitems"] == f"{platform.url}/columns" and kept["token_url"] == f"{platform.url}/token"
    refused, browser = launch(hub, platform, lambda nonce: platform.claims("another"))
    assert refused.status_code == 403 and "not valid" in refused.text and refused.text.count("\n") == 1
    assert "learning management system" in browser.get(f"{hub.url}/hub/home").text
    offered, browser = launch(hub, platform, platform.deep_link)
    launch_id = re.search(r'name="launch" value="([^"]+)"', offered.text)[1]
    assert "03-heads<span>5 points</span>" in offered.text
    chosen = browser.post(f"{hub.url}/hub/lti/choose", data={"launch": launch_id, "assignment": "03-heads"})
    assert chosen.ok and f'action="{platform.url}/return"' in chosen.text
    wrong = browser.post(f"{hub.url}/hub/lti/choose", data={"launch": launch_id, "assignment": "99-none"})
    assert wrong.status_code == 400
    learner, _ = launch(hub, platform, lambda nonce: platform.deep_link(nonce, "Learner"))
    assert learner.status_code == 403
    assert browser.get(f"{hub.url}/hub/lti/jwks").json()["keys"][0]["kty"] == "RSA"
