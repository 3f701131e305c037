"""Where students fetch and submit."""

import os

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.Exchange.root = os.environ["NBGRADER_EXCHANGE"]
