"""nbgrader's fake engine, but `# sleep 0.5` in an answer takes so long: there is time to kill something."""

import re
import time

import fake_engine


def grade_notebook(nb, exercises, **how):
    for cell in nb.cells:
        for seconds in re.findall(r"# sleep ([0-9.]+)", cell.source):
            time.sleep(float(seconds))
    return fake_engine.grade_notebook(nb, exercises, **how)
