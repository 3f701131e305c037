"""What a model is asked, which is what a student reads."""

from __future__ import annotations

import re
from typing import Any

from autograder.api import Exercise
from autograder.assistants.statement import setup_of, statement_of
from autograder.exercises import registry

PROMPT = """{lesson}

{given}Write this, complete, in one Python code block:

```python
{stub}
```
"""
SETUP = """These lines have been run before your code:

```python
{setup}
```

"""
EARLIER = "What the exercises before this one ask for is there, too: {names}.\n\n"
_PREDICTION = re.compile(r"^\*\*Predict\b.*?(?:\n\s*\n|\Z)", re.M | re.S)  # what a student is to guess first

Message = dict[str, str]


def task_of(exercise: Exercise) -> dict[str, Any]:
    """A row of the dataset: `exercise`, `prompt` (chat messages), and `info` for the reward.

    Raises StatementError if a file of the exercise cannot be read.
    """
    info = {"exercise": exercise.id, "unit": exercise.unit, "symbols": list(exercise.symbols)}
    return {"exercise": exercise.id, "prompt": [{"role": "user", "content": prompt_of(exercise)}], "info": info}


def prompt_of(exercise: Exercise) -> str:
    """What a student sees: the lesson's section, without predictions, what its set-up imports, and the stub.

    Raises StatementError if a file of the exercise cannot be read.
    """
    statement, setup, names = statement_of(exercise), setup_of(exercise), _earlier_names(exercise)
    given = SETUP.format(setup=setup) if setup else ""
    given += EARLIER.format(names=", ".join(f"`{name}`" for name in names)) if names else ""
    lesson = _PREDICTION.sub("", statement.lesson).strip() or exercise.title
    return PROMPT.format(lesson=lesson, given=given, stub=statement.code)


def _earlier_names(exercise: Exercise) -> list[str]:
    """What earlier exercises of the unit define; the grader puts right answers in their place where they are used."""
    before = registry.earlier_in_unit(exercise)
    return [name for other in before for name in other.symbols if name not in exercise.symbols]
