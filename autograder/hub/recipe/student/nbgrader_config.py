"""Where students fetch and submit."""

import os

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.Exchange.root = os.environ["NBGRADER_EXCHANGE"]
c.Exchange.path_includes_course = "TFKIT_COURSE_FOLDERS" in os.environ
