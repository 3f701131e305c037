"""The exercises as an environment for language models: prompts, verdicts in a sandbox, rewards, feedback as next turn.

    from autograder.environment import Environment

    with Environment(["masks.causal"], workers=2) as environment:
        (task,) = environment.tasks
        outcome = environment.judge(task["exercise"], "```python\\ndef causal_mask(length): ...\\n```")
        outcome.score, outcome.parts, outcome.feedback

`autograder environment tasks` and `autograder environment judge` do the same with JSON lines.
"""

from autograder.environment.outcome import ReplyOutcome
from autograder.environment.pool import Environment, EnvironmentClosed, Rollout

__all__ = ["Environment", "EnvironmentClosed", "ReplyOutcome", "Rollout"]
