"""How long a stranger waits, in a box that is an empty Debian: `python -m tools.stopwatch first-day` or `template`.

    first-day   the commands that docs/first-day.md shows for an empty machine, from the clone to exported scores
    template    a course by `course.template`: the steps of its dev container's Dockerfile, then a student's clone with
                an answer, up to its verdict

The box has Debian's packages for Python and Node.js and nothing else: no file of this machine but those that --share
names, such as pip's settings. It is a mount and a process namespace of its own, with this machine's network. Needs
Linux, root, and debootstrap.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tfkit_course.command_line import make_parser

ROOT = Path(__file__).parents[1]
PAGE, SECTION = ROOT / "docs/first-day.md", "## From an empty machine"
ADDRESS = "ADDRESS"  # of the repository, in the page's commands
COMMANDS, FIRST_DAY_S, VERDICT_S = 5, 600, 60
PACKAGES = ("ca-certificates", "python3", "python3-venv")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PASSED_ON = re.compile(
    r"(PIP_|NPM_CONFIG_|YARN_|SSL_CERT_|REQUESTS_CA_|NODE_EXTRA_CA_|GIT_SSL_|(HTTPS?|NO)_PROXY)", re.I
)
ENTER = """\
set -e
box=$1; shift
mount --make-rprivate /
mount --bind "$box" "$box"
mount -t proc proc "$box/proc"
mount --rbind /dev "$box/dev"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$box$2"; else mkdir -p "$(dirname "$box$2")"; [ -e "$box$2" ] || touch "$box$2"; fi
  mount --bind "$1" "$box$2"; mount -o remount,bind,ro "$box$2"
  shift 2
done
shift
cd "$box"; mkdir -p .outside; pivot_root . .outside; umount -l /.outside
exec "$@"
"""
ANSWER = """\
import json, sys
path = "release/02-masks/02-masks.ipynb"
notebook = json.load(open(path, encoding="utf-8"))
cell = next(one for one in notebook["cells"] if one.get("id") == "solution-masks-causal")
text = "".join(cell["source"])
assert "raise NotImplementedError" in text
cell["source"] = text.replace("raise NotImplementedError", "return torch.ones(length, length).tril().bool()")
json.dump(notebook, open(path, "w", encoding="utf-8"))
"""


class StopwatchError(RuntimeError):
    """What was to be timed failed, or cannot be done on this machine; the message says why."""


@dataclass(frozen=True)
class EmptyDebian:
    """A folder with a Debian, and what of this machine is seen in it, read only: place there -> path here."""

    folder: Path
    seen: dict[str, Path]
    environment: dict[str, str] = field(default_factory=dict)

    def run(
        self, script: str, *, user: str = "0", cwd: str = "/root", environment: dict[str, str] | None = None
    ) -> None:
        """Run a script of bash there, its output on this terminal. Raises StopwatchError if it fails."""
        pairs = [str(word) for there, here in self.seen.items() for word in (here, there)]
        home = "/root" if user == "0" else "/home/jovyan"
        names = {"PATH": PATH, "HOME": home, "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **self.environment}
        values = [f"{name}={value}" for name, value in {**names, **(environment or {})}.items()]
        inside = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "env", "-i", "-C", cwd, *values]
        call = [
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "bash",
            "-c",
            ENTER,
            "enter",
            str(self.folder),
            *pairs,
        ]
        done = subprocess.run([*call, "--", *inside, "bash", "-c", script], check=False)
        if done.returncode:
            raise StopwatchError(f"a command ended with status {done.returncode}; its output is above")


# ------------------------------------------------------------------ the box


def debian(suite: str, packages: Sequence[str]) -> Path:
    """A tar file with an installed Debian, made once. Raises StopwatchError."""
    file = ROOT / ".make" / f"debian-{suite}-{'-'.join(packages)}.tar"
    if file.exists():
        return file
    file.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        call = ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", suite, folder]
        made = subprocess.run(call, capture_output=True, text=True, check=False)
        if made.returncode:
            raise StopwatchError(f"debootstrap cannot make Debian {suite}: {made.stdout.strip()[-500:]}")
        subprocess.run(["tar", "--one-file-system", "-C", folder, "-cf", f"{file}.new", "."], check=True)
    Path(f"{file}.new").rename(file)
    return file


@contextmanager
def empty_box(options: argparse.Namespace) -> Iterator[EmptyDebian]:
    """A new box, gone afterwards. Raises StopwatchError."""
    if why := lacking():
        raise StopwatchError(why)
    packages = [*PACKAGES, *(["nodejs"] if options.node is None else [])]
    seen = {"/etc/resolv.conf": Path("/etc/resolv.conf"), **{str(path.absolute()): path for path in options.share}}
    if options.node is not None:
        seen["/usr/local/bin/node"] = options.node.resolve()
    environment = {name: value for name, value in os.environ.items() if PASSED_ON.match(name)}
    environment |= {"TORCH_INDEX": options.torch_index} if options.torch_index else {}  # for make
    with tempfile.TemporaryDirectory(prefix="debian-") as folder:
        subprocess.run(["tar", "-C", folder, "-xf", debian(options.suite, packages)], check=True)
        Path(folder).chmod(0o755)
        yield EmptyDebian(Path(folder), seen, environment)


def lacking() -> str:
    """Why no box can be made on this machine; empty if one can."""
    if sys.platform != "linux" or os.geteuid():
        return "only root on Linux can make the box: it mounts a Debian of its own"
    absent = [name for name in ("debootstrap", "unshare", "pivot_root", "setpriv") if shutil.which(name) is None]
    return f"there is no {absent[0]}: apt-get install debootstrap util-linux" if absent else ""


# ------------------------------------------------------------------ what is timed


def commands_of(page: str) -> list[str]:
    """The commands of the page's section for an empty machine."""
    section = page.partition(f"{SECTION}\n")[2].partition("\n## ")[0]
    found = [line[2:] for line in section.splitlines() if line.startswith("$ ")]
    return [re.sub(r"\s+#.*", "", line) for line in found]


def script_of(commands: Sequence[str]) -> str:
    """One shell that types them, and says of each how long it took."""
    lines = ["set -e"]
    for command in commands:
        lines += [f"printf '» %s\\n' {shlex.quote(command)}", "SECONDS=0", command, "printf '  %s s\\n' $SECONDS"]
    return "\n".join(lines)


def first_day(options: argparse.Namespace) -> float:
    """From nothing to exported scores, in seconds. Raises StopwatchError."""
    commands = commands_of(PAGE.read_text(encoding="utf-8"))
    if not 0 < len(commands) <= COMMANDS:
        raise StopwatchError(f"{PAGE.name} shows {len(commands)} commands, and at most {COMMANDS} are promised")
    with empty_box(options) as box, tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "-q", "--bare", ROOT, f"{folder}/tfkit.git"], check=True)
        box.seen["/srv/tfkit.git"] = Path(folder, "tfkit.git")
        began = time.monotonic()
        box.run(script_of(commands).replace(ADDRESS, "/srv/tfkit.git"))
        took = time.monotonic() - began
        scores = (box.folder / "root/tfkit/02-masks.csv").read_text(encoding="utf-8-sig").splitlines()
        print(f"{len(commands)} commands; {len(scores) - 1} students with scores")
    return took


def steps_of(dockerfile: str) -> Iterator[tuple[str, str]]:
    """Its instructions behind FROM, each with what follows it on its lines."""
    joined = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", dockerfile, flags=re.M))
    lines = [line.strip() for line in joined.splitlines() if line.strip()]
    start = next(number for number, line in enumerate(lines) if line.startswith("FROM "))
    for line in lines[start + 1 :]:
        name, _, value = line.partition(" ")
        yield name, value.strip()


def build(box: EmptyDebian, dockerfile: Path, context: Path) -> tuple[dict[str, str], str]:
    """Carry its steps out in the box, which has Debian's Python where an image has its own -> environment, user.

    Raises StopwatchError.
    """
    (box.folder / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    environment, user = {"PATH": PATH}, "0"
    for name, value in steps_of(dockerfile.read_text(encoding="utf-8")):
        match name:
            case "ENV":
                for word in shlex.split(value):
                    key, _, text = word.partition("=")
                    environment[key] = text.replace("$PATH", environment["PATH"])
            case "COPY":
                *sources, target = value.split()
                (box.folder / target.lstrip("/")).mkdir(parents=True, exist_ok=True)
                for source in sources:
                    shutil.copy(context / source, box.folder / target.lstrip("/"))
            case "RUN":
                box.run(value, environment=environment)
            case "USER":
                user = value
            case "WORKDIR":
                pass
            case _:
                raise StopwatchError(f"{dockerfile} has a step {name}, which the box cannot take")
    return environment, user


def template(options: argparse.Namespace) -> float:
    """From a student's clone to its first verdict in a box like the dev container, in seconds.

    Raises StopwatchError.
    """
    wheels = sorted((ROOT / "dist").glob("tfkit_course-*.whl"))
    if not wheels:
        raise StopwatchError("there is no wheel in dist/, which the course installs: `make wheel` writes it")
    version = wheels[-1].name.split("-")[1]
    with empty_box(options) as box, tempfile.TemporaryDirectory() as folder:
        course = Path(folder, "my-course")
        call = [sys.executable, "-m", "course.template", str(course), "--package", f"tfkit-course=={version}"]
        subprocess.run([*call, *(["--torch-index", options.torch_index] if options.torch_index else [])], check=True)
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "A course"]):
            subprocess.run(["git", "-C", course, *words], check=True)
        box.seen["/srv/wheels"] = ROOT / "dist"
        box.environment["PIP_FIND_LINKS"] = f"{box.environment.get('PIP_FIND_LINKS', '')} /srv/wheels".strip()
        began = time.monotonic()
        environment, user = build(box, course / ".devcontainer/Dockerfile", course)
        print(f"the dev container's image: {time.monotonic() - began:.0f} s")
        subprocess.run(["chown", "-R", user, folder], check=True)
        Path(folder).chmod(0o755)
        box.seen["/srv/my-course"] = course
        began = time.monotonic()
        box.run(script_of(["git clone -q /srv/my-course course && cd course", f"python -c {shlex.quote(ANSWER)}",
                           "autograder check masks.causal release/02-masks/02-masks.ipynb"]),
                user=user, cwd="/home/jovyan", environment=environment)  # fmt: skip
        return time.monotonic() - began


# ------------------------------------------------------------------ the command


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: 0 if it took no longer than promised, 1 if it did, 2 if it failed or could not be tried."""
    parser = make_parser(
        "tools.stopwatch",
        """
        Time how long a stranger waits: from an empty Debian to a mock class that is graded and exported (first-day), or
        from the clone of a course to a student's first verdict in its dev container (template). Needs root and
        debootstrap; what is timed is the last commit.
        """,
        exits={0: "no longer than is promised", 1: "longer", 2: "it failed, or cannot be tried here"},
        examples=("python -m tools.stopwatch first-day", "python -m tools.stopwatch template --suite bookworm"),
    )
    parser.add_argument("what", choices=("first-day", "template"),
                        help="an instructor's first day, or a student of a repository that students copy")  # fmt: skip
    parser.add_argument("--suite", default="trixie", help="of Debian (default: %(default)s)")
    parser.add_argument("--node", type=Path, metavar="FILE", help="a program node of this machine, for an older suite")
    parser.add_argument("--share", type=Path, action="append", default=[], metavar="PATH",
                        help="a file or folder that the box sees as it is here, such as pip's settings")  # fmt: skip
    parser.add_argument("--torch-index", default="", metavar="URL", help="the package index of PyTorch's CPU build")
    parser.add_argument("--limit", type=float, metavar="SECONDS",
                        help=f"in place of {FIRST_DAY_S} for first-day and {VERDICT_S} for template")  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        took = first_day(options) if options.what == "first-day" else template(options)
    except (StopwatchError, subprocess.CalledProcessError, OSError) as error:
        print(f"stopwatch: {error}", file=sys.stderr)
        return 2
    promised = {"first-day": FIRST_DAY_S, "template": VERDICT_S}[options.what]
    limit = promised if options.limit is None else options.limit
    print(f"{options.what}: {took:.0f} s of the {limit:g} that are promised")
    return int(took > limit)


if __name__ == "__main__":
    raise SystemExit(main())
