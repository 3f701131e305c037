"""An instructor's course, from the first start of the server on: all of the shipped settings, for `~/course`.

The course's own nbgrader_config.py comes on top where there is one when the server starts. Without these lines a
formgrader that was started before the course was made would know no course id, and grade by nbgrader's own steps.
"""

import importlib.util
import os
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821
shipped = importlib.util.find_spec("autograder").submodule_search_locations[0]
load_subconfig("nbgrader_config.py", path=os.path.join(shipped, "nbgrader"))  # type: ignore[name-defined]  # noqa: F821

course = Path.home() / "course"
c.CourseDirectory.root = str(course)
c.CourseDirectory.db_url = f"sqlite:///{course / 'gradebook.db'}"
c.BoxedExecute.key_file = str(course / "course.key")
c.Exchange.root = os.environ["NBGRADER_EXCHANGE"]
c.Exchange.cache = str(course / "exchange" / "cache")
