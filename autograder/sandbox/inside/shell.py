"""Runs notebook cells in an IPython shell that collects a limited amount of output: no terminal, history or network."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.paths import get_ipython_dir
from traitlets.config import Config


class Outputs:
    """One cell's outputs as notebook dictionaries, up to `budget` bytes."""

    def __init__(self, budget: int) -> None:
        self.items: list[dict[str, Any]] = []
        self.remaining = budget

    def stream(self, name: str, text: str) -> None:
        """Add text to `name`, "stdout" or "stderr"; it is joined to the last output where that has the same name."""
        text = self._cut(text)
        if text and self.items and self.items[-1].get("name") == name:
            self.items[-1]["text"] += text
        elif text:
            self.items.append({"output_type": "stream", "name": name, "text": text})

    def show(self, kind: str, data: dict[str, Any], **more: Any) -> None:
        """Add an output of this `kind` with {mime type: content}, or a note in its place if it exceeds the budget."""
        size = sum(len(str(value)) for value in data.values())
        if size > self.remaining:
            data, size = {"text/plain": f"[an output of {size} bytes was left out]"}, 0
        self.remaining -= size
        plain = {str(mime): v if isinstance(v, (str, dict, list)) else str(v) for mime, v in data.items()}
        self.items.append({"output_type": kind, "data": plain, "metadata": {}, **more})

    def error(self, name: str, message: str, frames: list[str]) -> None:
        """Add an exception: its last 20 frames, cut to a reasonable size, which do not count towards the budget."""
        self.items.append({"output_type": "error", "ename": name, "evalue": message[:2000],
                           "traceback": [frame[:4000] for frame in frames[-20:]]})  # fmt: skip

    def _cut(self, text: str) -> str:
        if self.remaining <= 0:
            return ""
        kept, self.remaining = text[: self.remaining], self.remaining - len(text)
        return kept if self.remaining > 0 else kept + "\n[the rest of the output was cut off]\n"


class Stream(io.TextIOBase):
    """A text file that writes into whatever `Outputs` is current."""

    encoding = "utf-8"

    def __init__(self, shell: Shell, name: str) -> None:
        self.shell, self.stream_name = shell, name

    def writable(self) -> bool:
        """Always True; the file cannot be read."""
        return True

    def write(self, text: str) -> int:
        """Write `text` as far as the budget goes; returns its full length."""
        self.shell.outputs.stream(self.stream_name, str(text))
        return len(text)


class Publisher(DisplayPublisher):
    """Collects what `display` shows."""

    shell: Any

    def publish(self, data: Any, metadata: Any = None, source: Any = None, *, transient: Any = None,
                update: Any = False, **more: Any) -> None:  # fmt: skip
        """Show the data; metadata and updates of earlier displays are dropped."""
        self.shell.outputs.show("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        """Drop what the cell has shown so far."""
        self.shell.outputs.items.clear()


class Hook(DisplayHook):
    """Collects the value of a cell's last line."""

    shell: Any

    def start_displayhook(self) -> None:
        """Nothing to start: there is no terminal."""

    def write_output_prompt(self) -> None:
        """No prompt: the notebook draws its own."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Show it, with the number of the cell."""
        self.shell.outputs.show("execute_result", format_dict, execution_count=self.shell.execution_count)

    def finish_displayhook(self) -> None:
        """Nothing to finish: there is no terminal."""


class Shell(InteractiveShell):
    """IPython as in a notebook kernel; what a box cannot do (unknown magics, `!commands`) prints a note instead."""

    def __init__(self, **traits: Any) -> None:
        self.outputs = Outputs(1 << 16)
        super().__init__(display_pub_class=Publisher, displayhook_class=Hook, **traits)

    def init_history(self) -> None:
        """Turns IPython's history off."""
        super().init_history()
        self.history_manager.enabled = False  # type: ignore[union-attr]

    def enable_gui(self, gui: str | None = None) -> None:
        """Does nothing: there are no event loops here, and `%matplotlib inline` needs none."""

    def system(self, cmd: str) -> None:
        """`!command` is not run: it says so on stderr."""
        self.outputs.stream("stderr", f"(not run while grading: !{cmd})\n")

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """`%magic`; one that cannot run here says so on stderr."""
        return self._magic(super().run_line_magic, magic_name, line, _stack_depth + 1)

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """`%%magic`; one that cannot run here says so on stderr."""
        return self._magic(super().run_cell_magic, magic_name, line, cell)

    def _magic(self, run: Any, name: str, *rest: Any) -> Any:
        try:
            return run(name, *rest)
        except (UsageError, ImportError, OSError) as error:
            self.outputs.stream("stderr", f"(not run while grading: %{name}: {error})\n")
            return None

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        self.outputs.error(getattr(etype, "__name__", str(etype)), str(evalue), list(stb))


def quiet_config() -> Config:
    """IPython's settings: no history, no colours, no banner, tracebacks with a few lines around."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Context"
    config.InteractiveShell.banner1 = ""
    return config


def make() -> Shell:
    """The one shell of this process."""
    # keep IPython from copying a README with its file mode into the profile: the system call filter may refuse that
    startup = Path(get_ipython_dir()) / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "README").touch()
    return Shell.instance(config=quiet_config())


def warm_up(finder: MetaPathFinder) -> None:
    """Makes a shell, runs cells in it and forgets it, so that boxes forked later needn't load what that loads.

    One of the cells stops where `finder` refuses the project's own modules, as the set-up of nearly every notebook does
    in a box: what draws that traceback reads and parses the files in it, which takes longer than all else in the cell.
    Raises OSError if no temporary folder can be written."""
    kept = os.environ.get("IPYTHONDIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTHONDIR"] = folder
        sys.meta_path.insert(0, finder)
        try:
            shell = make()
            for cell in ("def f(x):\n    return x\nf(1)", "import tfkit"):
                run(shell, cell, 1 << 12)
            shell.restore_sys_module_state()  # or `__main__` would stay the shell's own module
        finally:
            sys.meta_path.remove(finder)
            Shell.clear_instance()
            for name in ("last_type", "last_value", "last_traceback", "last_exc"):  # of the cell that stopped
                sys.__dict__.pop(name, None)
            os.environ.pop("IPYTHONDIR")
            if kept is not None:
                os.environ["IPYTHONDIR"] = kept


def run(shell: Shell, source: str, budget: int) -> tuple[list[dict[str, Any]], str | None]:
    """Runs one cell; returns its outputs and, if it failed, `Name: message`."""
    shell.outputs = Outputs(budget)
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Stream(shell, "stdout"), Stream(shell, "stderr")
    try:
        result = shell.run_cell(source, store_history=True)
        _show_figures(shell)
    finally:
        sys.stdout, sys.stderr = kept
    error = result.error_before_exec or result.error_in_exec
    return shell.outputs.items, None if error is None else f"{type(error).__name__}: {error}"[:2000]


def _show_figures(shell: Shell) -> None:
    """Figures left open at the end of a cell are shown, as the notebook's inline backend does."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        return
    from IPython.core.pylabtools import print_figure

    for number in pyplot.get_fignums():
        png = print_figure(pyplot.figure(number), fmt="png", base64=True)
        if png:
            shell.outputs.show("display_data", {"image/png": png})
    pyplot.close("all")
