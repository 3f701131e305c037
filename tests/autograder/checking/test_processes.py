"""Processes that wait: what one is told, that it is used up, and that none is left behind."""

import ast
import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from autograder.checking import processes as warm
from autograder.exercises import registry
from autograder.exercises.answers import answers

CAUSAL = registry.find("masks.causal")
ECHO = "import json, os; print(json.dumps([os.getpid(), json.loads(input())]))"


@pytest.fixture
def processes(monkeypatch):
    monkeypatch.setattr(warm, "COMMAND", (sys.executable, "-c", ECHO))
    made = warm.WarmProcesses()
    yield made
    made.close()


def run(processes, *arguments):
    with processes.process() as process:
        out, _ = process.communicate(warm.request(arguments), timeout=60)
    return process, json.loads(out)


def gone(pid):
    """Whether a process that is nobody's child here ends soon."""
    for _ in range(400):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_the_one_that_waits_is_told_what_to_do_and_another_waits(processes):
    first, said = run(processes, "check", "é\n")
    assert said == [first.pid, ["check", "é\n"]] and first.returncode == 0
    waiting = list(processes._waiting)
    assert len(waiting) == warm.N_WAITING
    second, _ = run(processes, "list")
    assert second is waiting[0] and second not in processes._waiting and len(processes._waiting) == warm.N_WAITING


def test_the_next_is_started_when_one_has_ended(processes):
    processes.prepare()
    before = list(processes._waiting)
    with processes.process() as process:
        assert process is before[0] and processes._waiting[: len(before) - 1] == before[1:]
        assert len(processes._waiting) == max(1, warm.N_WAITING - 1)
        process.communicate(warm.request(["list"]), timeout=60)
    assert processes._waiting[: len(before) - 1] == before[1:] and len(processes._waiting) == warm.N_WAITING


def test_the_next_is_started_while_one_works_where_no_other_waits(processes, monkeypatch):
    monkeypatch.setattr(warm, "N_WAITING", 1)
    processes.prepare()
    with processes.process() as process:
        assert len(processes._waiting) == 1 and process not in processes._waiting
        process.communicate(warm.request(["list"]), timeout=60)


def test_one_that_died_while_it_waited_is_replaced(processes):
    run(processes)
    dead = processes._waiting[0]
    dead.kill()
    dead.wait()
    process, said = run(processes, "list")
    assert process is not dead and said == [process.pid, ["list"]]


def test_whatever_cuts_it_short_ends_it(processes, monkeypatch):
    monkeypatch.setattr(warm, "COMMAND", (sys.executable, "-c", "import time; input(); time.sleep(60)"))
    with pytest.raises(subprocess.TimeoutExpired), processes.process() as process:
        process.communicate(warm.request([]), timeout=0.2)
    assert process.returncode == -signal.SIGKILL


def test_nobody_waits_for_ever(processes, monkeypatch):
    monkeypatch.setattr(warm, "WAIT_S", 0.1)
    run(processes)
    waiting = list(processes._waiting)
    processes._timer.join(30)
    assert waiting and all(process.returncode is not None for process in waiting) and not processes._waiting


def test_one_that_waits_goes_with_whoever_started_it():
    code = (
        "import os, sys; from autograder.checking.processes import WarmProcesses, request; w = WarmProcesses()\n"
        "with w.process() as p: p.communicate(request(['masks.causal']))\n"
        "print(w._waiting[0].pid, flush=True); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert gone(int(done.stdout))


def test_a_file_beside_the_notebook_takes_no_modules_place(tmp_path, monkeypatch):
    (tmp_path / "random.py").write_text("raise RuntimeError('the wrong one')")
    monkeypatch.chdir(tmp_path)
    processes = warm.WarmProcesses()
    with processes.process() as process:
        _, err = process.communicate(warm.request(["no.such", "mine.py"]), timeout=120)
    processes.close()
    assert "no exercise is called 'no.such'" in err and "the wrong one" not in err


def test_an_interrupt_is_not_meant_for_the_one_that_waits():
    """It loads torch and a box, is interrupted as all processes of a notebook are, and checks all the same."""
    right = answers(CAUSAL, "right")[0]
    processes = warm.WarmProcesses("--trust", own_group=True)
    with processes.process() as process:
        while not psutil.Process(process.pid).children():  # the box's
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        told = warm.request([CAUSAL.id, str(right), "--json", "--trust"])
        out, err = process.communicate(told, timeout=120)
    processes.close()
    assert process.returncode == 0, err
    assert json.loads(out)["status"] == "passed"


@pytest.mark.parametrize(
    ("arguments", "code"), [([CAUSAL.id, str(answers(CAUSAL, "right")[0]), "--trust"], 0), (["no.such", "mine.py"], 2)]
)
def test_one_that_has_answered_ends_at_once_and_leaves_no_box(arguments, code):
    """Python would take apart all that was loaded, while somebody waits."""
    start = "import atexit; from autograder.checking import child; atexit.register(print, 'taken apart'); child.main()"
    running = subprocess.Popen(
        [sys.executable, "-c", start, "--trust"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (boxes := psutil.Process(running.pid).children()):
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.05)
    out, err = running.communicate(warm.request(arguments), timeout=120)
    assert running.returncode == code and "taken apart" not in out
    assert CAUSAL.id in out if code == 0 else "no exercise is called 'no.such'" in err
    assert all(gone(box.pid) for box in boxes)


def test_one_that_waits_has_loaded_what_a_check_would():
    """No module of a unit, of the library or of sympy is left for the time in which somebody waits."""
    right = answers(CAUSAL, "right")[0]
    code = "import sys; from autograder.checking import child, command\n"
    code += "child.load(True)\nbefore = set(sys.modules)\ntry:\n    command.check(sys.argv[1:])\nfinally:\n    "
    code += "print(sorted(set(sys.modules) - before), file=sys.stderr)"
    command = [sys.executable, "-c", code, CAUSAL.id, str(right), "--json", "--trust"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert json.loads(done.stdout)["status"] == "passed"
    late = ast.literal_eval(done.stderr.splitlines()[-1])
    assert not [name for name in late if name.startswith(("tfkit", "autograder", "course", "sympy"))], late


def test_a_check_does_not_load_torchs_compiler():
    """It takes longer than a check. `torch.use_deterministic_algorithms` imports it, and every class of torch.optim."""
    code = (
        "import sys; from autograder.exercises import registry; from autograder.exercises.answers import answers\n"
        "from autograder.corpus.judge import ask_reference, examine_answer\n"
        "exercise = registry.find('attention.multi_head')\n"
        "findings = examine_answer(answers(exercise, 'right')[0], ask_reference(exercise, 0))\n"
        "asked = {finding.check.name for finding in findings if not finding.failed}\n"
        "print(sorted(asked & {'no side effects', 'trains in a few steps'}))\n"
        "print(sorted({'torch._dynamo', 'torch._inductor'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == ["['no side effects', 'trains in a few steps']", "[]"], done.stderr
