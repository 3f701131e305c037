"""A JupyterHub for courses: who is in COURSES gets the formgrader and the class panel of a course, the others do not.

`autograder hub up` fills in the four values below from class.toml, and adds what one machine needs. Nothing here
depends on an authenticator or a spawner: for a Hub of your own, copy this folder, edit the values, make the exchange.
"""

import os
import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent
COURSES = {"teacher": "tfkit"}  # instructor → what their course in ~/course is called in the exchange
SERVED = {}  # instructor → their course's folder {"teacher": "/home/teacher/course"}: a service grades what arrives
PORT = 10101  # of the first course's service; each further one has the next
EXCHANGE = os.environ.get("NBGRADER_EXCHANGE", "/srv/nbgrader/exchange")
c = get_config()  # type: ignore[name-defined]  # noqa: F821

c.Spawner.environment = {
    "NBGRADER_EXCHANGE": EXCHANGE,
    # "TFKIT_CACHE": "/srv/tfkit",  # weights and texts that `tfkit get` fetched once for all: docs/jupyterhub.md
}
c.Spawner.default_url = "/lab"


def configure(spawner):
    """Point the user's server to its settings, which the user cannot change."""
    course = COURSES.get(spawner.user.name)
    spawner.environment["JUPYTER_CONFIG_PATH"] = str(HERE / ("instructor" if course else "student"))
    if course:
        spawner.environment["TFKIT_COURSE"] = course
        spawner.environment["TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR"] = (
            "1"  # or nbgrader grades without a sandbox
        )
    elif len(set(COURSES.values())) > 1:  # two courses may have assignments of one name
        spawner.environment["TFKIT_COURSE_FOLDERS"] = "yes"


c.Spawner.pre_spawn_hook = configure

# Grading on submission: a service for each course, run as its instructor, who alone sees its page in the Hub's menu.
c.JupyterHub.services = [
    {
        "name": f"grader-{COURSES[user]}",
        "user": user,
        "command": [shutil.which("autograder") or "autograder", "serve", folder],
        "cwd": "/",  # or the service gets the Hub's, which the instructor may not be able to enter
        "url": f"http://127.0.0.1:{PORT + number}",
        "environment": {"NBGRADER_EXCHANGE": EXCHANGE, "TFKIT_COURSE": COURSES[user], "OMP_NUM_THREADS": "1"},
    }
    for number, (user, folder) in enumerate(SERVED.items())
]
c.JupyterHub.load_roles = [
    {"name": f"grading-{COURSES[user]}", "users": [user], "scopes": [f"access:services!service=grader-{COURSES[user]}"]}
    for user in SERVED
]
