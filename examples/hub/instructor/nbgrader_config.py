"""Where an instructor's course is, and where it is released to; the course's own nbgrader_config.py comes on top."""

import os
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.CourseDirectory.root = str(Path.home() / "course")
c.Exchange.root = os.environ["NBGRADER_EXCHANGE"]
