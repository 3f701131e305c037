"""A JupyterHub for a class: who is in INSTRUCTORS gets the formgrader and the class panel, the others do not.

Copy this folder to the server, name the instructors, make the exchange (`install -d -m 777 /srv/nbgrader/exchange`),
and add your authenticator and spawner: nothing here depends on which.
"""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTRUCTORS = {"teacher"}
c = get_config()  # type: ignore[name-defined]  # noqa: F821

c.Spawner.environment = {"NBGRADER_EXCHANGE": os.environ.get("NBGRADER_EXCHANGE", "/srv/nbgrader/exchange")}
c.Spawner.default_url = "/lab"


def configure(spawner):
    """Point the user's server to its settings, which the user cannot change."""
    kind = "instructor" if spawner.user.name in INSTRUCTORS else "student"
    spawner.environment["JUPYTER_CONFIG_PATH"] = str(HERE / kind)


c.Spawner.pre_spawn_hook = configure
