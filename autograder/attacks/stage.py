"""The stage that every attack is played on: a course, its grader's machine, and what must stay as it was.

An attack is a file `hostile/<family>/<name>.py`; its docstring's first line says what it tries. Most are the student's
cell. It is told where everything worth having is, sets `won` where it got what it wanted, and the answer that is put
after it is right only then: so the score measures the attack. One that defines `rnn_cell` itself is not given an
answer. Files of the family `metadata` rewrite the notebook that is handed in. `Worth: 1` marks those whose code is
right, and `If it wins: …` those that would harm the machine itself.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import signal
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.nbgrader import config

HOSTILE = Path(__file__).resolve().parent / "hostile"
ROOT = Path(__file__).resolve().parents[2]  # of the checkout, or the folder of installed packages
UNIT, EXERCISE, HONEST = "01-recurrence-to-attention", "rnn-cell", "zz-honest"
STAYS = ("source", "release", "course.key", "nbgrader_config.py")  # in a course, whatever is handed in and graded
LIMITS = {"call_s": 4.0, "wall_s": 60.0, "memory_mb": 512, "processes": 16}
RIGHT = "import torch\ndef rnn_cell(x, h, w_x, w_h, b):\n    return torch.tanh(x @ w_x + h @ w_h + b)\n"
ANSWER = """
def rnn_cell(x, h, w_x, w_h, b):
    new = x @ w_x + h @ w_h + b
    return new.tanh() if won else 0 * new  # without a win it says nothing, and so earns nothing
"""


class StageError(Exception):
    """The class of attackers could not be graded; the message says why."""


@dataclass(frozen=True)
class Attack:
    """One file."""

    path: Path

    @property
    def family(self) -> str:
        """The folder that it is in."""
        return self.path.parent.name

    @property
    def name(self) -> str:
        """The name of the student who hands it in."""
        return f"{self.family}-{self.path.stem}".replace("_", "-")

    @property
    def text(self) -> str:
        """Its source."""
        return self.path.read_text(encoding="utf-8")

    @property
    def aim(self) -> str:
        """What it tries, in one sentence."""
        return self._docstring.splitlines()[0]

    @property
    def worth(self) -> float:
        """What its code is worth without the attack."""
        return float(self._mark("Worth") or 0.0)

    @property
    def harm(self) -> str:
        """What it would do to the machine where nothing stops it; empty if that is nothing."""
        return self._mark("If it wins")

    @property
    def needs_card(self) -> str:
        """Why it is played on a graphics card only; empty if it isn't."""
        return self._mark("On a card only")

    @property
    def _docstring(self) -> str:
        return ast.get_docstring(ast.parse(self.text)) or ""

    def _mark(self, word: str) -> str:
        """The line `word: …` of its docstring."""
        found = re.search(rf"^{word}: (.+)$", self._docstring, re.M)
        return found.group(1) if found else ""

    def cell(self, told: dict[str, object]) -> str:
        """What the student hands in as the answer."""
        if self.family == "metadata":
            return "won = False\n" + ANSWER
        known = "".join(f"{name} = {value!r}\n" for name, value in ({"won": False} | told).items())
        return known + self.text + ("" if "def rnn_cell" in self.text else ANSWER)

    def forge(self, nb: nbformat.NotebookNode) -> None:
        """Rewrites the notebook, in the family that does."""
        if self.family != "metadata":
            return
        spec = importlib.util.spec_from_file_location(f"attack_{self.path.stem}", self.path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.forge(nb, lambda grade_id: find(nb, grade_id))


def attacks() -> list[Attack]:
    """All attacks, by family and name."""
    return [Attack(path) for path in sorted(HOSTILE.glob("*/*.py"))]


def find(nb: nbformat.NotebookNode, grade_id: str) -> nbformat.NotebookNode:
    """The cell of that grade id."""
    return next(cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


MOST_OF_PATH = 70  # bytes


class Machine:
    """What a hostile program may find on the grader's machine; everything here must be as it was afterwards."""

    def __init__(self, folder: Path) -> None:
        self.home, self.course = folder / "home", folder / "course"
        self._fill_home()
        self.victim = subprocess.Popen(["sleep", "100000"], env={"SECRET_OF_THE_GRADER": "4711"})
        self.tcp, self.udp, self.unix, self.abstract = socket.socket(), socket.socket(type=socket.SOCK_DGRAM), \
            socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)  # fmt: skip
        self.tcp.bind(("127.0.0.1", 0))
        self.udp.bind(self.tcp.getsockname())
        self.hidden_name = f"attack-{os.getpid()}-{time.monotonic_ns()}"
        self.abstract.bind("\0" + self.hidden_name)
        # the path of a socket may have some hundred bytes, which a folder for temporary files may take alone
        where = folder if len(os.fsencode(folder)) < MOST_OF_PATH else None
        self.door = tempfile.TemporaryDirectory(prefix="door-", dir=where or "/tmp")
        self.unix.bind(str(Path(self.door.name) / "socket"))
        for server in (self.tcp, self.unix, self.abstract):
            server.listen()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.served = free.getsockname()[1]
        self.reached = False
        self.over = threading.Event()
        self.caller = threading.Thread(target=self._call)
        self.caller.start()

    def _fill_home(self) -> None:
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".config" / "pip").mkdir(parents=True)
        for name in (".ssh/id_ed25519", ".ssh/authorized_keys", ".bashrc", ".profile"):
            (self.home / name).write_text("SECRET_OF_THE_GRADER\n")

    def clues(self) -> dict[str, object]:
        """What an attacker who knows the machine well would know."""
        return {"ROOT": str(ROOT), "COURSE": str(self.course), "HOME": str(self.home), "VICTIM": self.victim.pid,
                "PORT": self.tcp.getsockname()[1], "SOCKET": self.unix.getsockname(), "ABSTRACT": self.hidden_name,
                "SERVED": self.served}  # fmt: skip

    def _call(self) -> None:
        """Knocks at the door that `network/served` opens."""
        while not self.over.wait(0.2):
            try:
                socket.create_connection(("127.0.0.1", self.served), timeout=0.2).close()
                self.reached = True
            except OSError:
                continue

    def traces(self) -> list[str]:
        """What came in from the boxes, or fell victim to them."""
        found = ["a service was opened to the machine"] if self.reached else []
        if self.victim.poll() is not None or _state(self.victim.pid) == "T":
            found.append("a process was killed or stopped")
        for name in ("tcp", "unix", "abstract"):
            server = getattr(self, name)
            server.settimeout(0.01)
            try:
                server.accept()
                found.append(f"a connection by {name}")
            except TimeoutError:
                continue
        self.udp.settimeout(0.01)
        try:
            found.append(f"a datagram: {self.udp.recv(64)!r}")
        except TimeoutError:
            return found
        return found

    def fingerprint(self) -> dict[str, str]:
        """Path → kind, mode, owner, and a hash of the contents: course, home and the project's own source."""
        places = [self.home, self.course / "submitted", ROOT / "autograder", ROOT / "tfkit", ROOT / "pyproject.toml"]
        return course_fingerprint(self.course) | fingerprint(places)

    def close(self) -> None:
        """Ends everything that was started for the attackers to find."""
        self.over.set()
        self.caller.join()
        self.victim.kill()
        self.victim.wait()
        for server in (self.tcp, self.udp, self.unix, self.abstract):
            server.close()
        self.door.cleanup()


def course_fingerprint(course: Path) -> dict[str, str]:
    """Of what stays as it is in a course that is in use, where submissions come in and are graded."""
    return fingerprint(course / name for name in STAYS)


def fingerprint(places: Iterable[Path]) -> dict[str, str]:
    """Path → kind, mode, owner, and a hash of the contents, of everything below these places but compiled code."""
    paths = (path for place in places for path in [place, *sorted(place.rglob("*"))])
    found = ((path, _print(path)) for path in paths if "__pycache__" not in path.parts)
    return {str(path): shown for path, shown in found if shown}


def _print(path: Path) -> str:
    """Empty where there is nothing, or nothing any more."""
    try:
        status = path.lstat()
        body = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
    except FileNotFoundError:
        return ""
    return f"{status.st_mode:o} {status.st_uid} {body}"


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def descendants(pid: int) -> set[int]:
    """Every process below `pid`; with `pid` a subreaper, those that were orphaned too. Zombies are reaped."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state == "Z" and int(parent) == pid:
            _reap(int(entry.parent.name))
        elif state != "Z":
            parents[int(entry.parent.name)] = int(parent)
    found: set[int] = set()
    while new := {child for child, parent in parents.items() if parent in found | {pid}} - found:
        found |= new
    return found


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


class Class:
    """A course with one exercise, the attackers, and an honest student who is graded last.

    settings: of `BoxedExecute`, the sandbox and its limits among them.
    """

    def __init__(self, machine: Machine, settings: Mapping[str, Any], players: list[Attack]) -> None:
        self.root, self.machine, self.players = machine.course, machine, players
        config.install(self.root)
        with (self.root / config.CONFIG).open("a", encoding="utf-8") as file:
            file.writelines(f"\nc.BoxedExecute.{name} = {value!r}" for name, value in settings.items())
        source = self.root / "source" / UNIT / f"{UNIT}.ipynb"
        source.parent.mkdir(parents=True)
        source.write_text(nbformat.writes(_notebook()), encoding="utf-8")
        self.nbgrader("generate_assignment", UNIT)
        for attack in players:
            self.hand_in(attack.name, attack.cell(machine.clues()), attack)
        self.hand_in(HONEST, RIGHT)

    def hand_in(self, student: str, answer: str, attack: Attack | None = None) -> None:
        """What `nbgrader collect` would leave."""
        nb = nbformat.read(self.root / "release" / UNIT / f"{UNIT}.ipynb", as_version=4)
        find(nb, f"solution-{EXERCISE}").source = answer
        if attack is not None:
            attack.forge(nb)
        path = self.root / "submitted" / student / UNIT / f"{UNIT}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(nb), encoding="utf-8")  # nbformat would mend what an attack has broken

    def nbgrader(self, *arguments: str, tell: Callable[[str], object] = len) -> tuple[str, int]:
        """Runs the stock command, and gives `tell` each line of its log at once; the log, and the most memory that its
        own process held. Raises StageError if it fails."""
        log, peak = self.root / "log.txt", 0
        with log.open("w") as file, log.open(errors="replace") as shown:
            running = subprocess.Popen([sys.executable, "-m", "nbgrader", *arguments], cwd=self.root,
                                       env=self._environment(), stdout=file, stderr=file,
                                       start_new_session=True)  # fmt: skip
            try:
                while running.poll() is None:
                    peak = max(peak, _peak_bytes(running.pid))
                    for line in shown:
                        tell(line)
                    time.sleep(0.1)
            finally:
                _end(running)
            for line in shown:
                tell(line)
        text = log.read_text(errors="replace")
        if running.returncode != 0:
            raise StageError(f"`nbgrader {' '.join(arguments)}` failed: {text[-3000:]}")
        return text, peak

    def _environment(self) -> dict[str, str]:
        """Of the grader: a home of its own, a secret, and the packages that the user's own home holds."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return os.environ | {"PATH": path, "HOME": str(self.machine.home), "OMP_NUM_THREADS": "1",
                             "PYTHONUSERBASE": site.getuserbase(), "SECRET_OF_THE_GRADER": "4711",
                             "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip

    def verdict(self, student: str) -> dict[str, Any]:
        """What stands in the graded notebook."""
        nb = nbformat.read(self.root / "autograded" / student / UNIT / f"{UNIT}.ipynb", as_version=4)
        return find(nb, f"check-{EXERCISE}").metadata["tfkit"]["verdict"]

    def scores(self) -> dict[str, tuple[float, float | None]]:
        """Student → (score, the grade that a person gave) in nbgrader's own gradebook."""
        with Gradebook(f"sqlite:///{self.root / 'gradebook.db'}", "tfkit") as gradebook:
            found = {}
            for submission in gradebook.assignment_submissions(UNIT):
                grade = gradebook.find_grade(f"check-{EXERCISE}", UNIT, UNIT, submission.student_id)
                found[submission.student_id] = (grade.score, grade.manual_score)
            return found


def _end(running: subprocess.Popen[bytes]) -> None:
    """Ends the command if it still runs, as where Ctrl-C came; it gets a moment to end its boxes."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if running.poll() is None:
            os.killpg(running.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(timeout=10)


def _peak_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), 0)


def _notebook() -> nbformat.NotebookNode:
    marks: dict[str, Any] = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        ("setup", "import torch", {"locked": True}),
        (f"solution-{EXERCISE}", "### BEGIN SOLUTION\nx = 1\n### END SOLUTION", {"solution": True}),
        (f"check-{EXERCISE}", 'check("rnn.cell")', {"grade": True, "locked": True, "points": 1.0}),
    ]
    cells = [new_code_cell(source, id=name, metadata={"nbgrader": marks | {"grade_id": name} | more})
             for name, source, more in kinds]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})
