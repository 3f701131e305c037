"""nbgrader's fake engine, with more that an answer may ask for.

`# sleep 0.5` takes so long, so that there is time to kill something; `# fill` takes memory without end; `# once` is
right only the first time. `threads.txt` gets a line with the number of threads of the process that grades.
"""

import re
import threading
import time
from pathlib import Path

import fake_engine


def grade_notebook(nb, exercises, **how):
    with Path("threads.txt").open("a") as file:
        print(threading.active_count(), file=file)
    for cell in nb.cells:
        for seconds in re.findall(r"# sleep ([0-9.]+)", cell.source):
            time.sleep(float(seconds))
        if "# fill" in cell.source:
            held = [bytearray(1 << 28)]
            while True:
                held.append(held[0][:])
                time.sleep(0.1)
        if "# once" in cell.source and Path("graded.txt").exists() and how["student"] in Path("graded.txt").read_text():
            cell.source = cell.source.replace("# right", "")
    return fake_engine.grade_notebook(nb, exercises, **how)
