"""The exercises as a taskset for Prime Intellect's `verifiers` (its interface v1), a thin layer over
`autograder.environment`.

The reward `share_of_points` is the score of the last reply; `passed`, `checks` and `judged` are metrics. With `turns`
above 1, the feedback on a reply that does not pass is the next message of the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import verifiers.v1 as vf

from autograder.environment import Environment


class ExerciseData(vf.TaskData):
    """One exercise: its prompt, and its id in `exercise`."""

    exercise: str


@cache
def environment(hints: int) -> Environment:
    """The environment of this process, whose judging processes end with it."""
    return Environment(hints=hints)


class ExerciseTask(vf.Task[ExerciseData]):
    """Scores the last reply of a trace."""

    @vf.reward(weight=1.0)
    async def share_of_points(self, trace: vf.Trace) -> float:
        return (await environment(0).judge_async(self.data.exercise, trace.last_reply)).score

    @vf.metric
    async def parts(self, trace: vf.Trace) -> dict[str, float]:
        found = (await environment(0).judge_async(self.data.exercise, trace.last_reply)).parts
        return {name: value for name, value in found.items() if name != "score"}


class ExercisesConfig(vf.TasksetConfig):
    """exercises: ids of the exercises; all that are installed if empty."""

    exercises: list[str] = []


class ExercisesTaskset(vf.Taskset[ExerciseTask, ExercisesConfig]):
    """A task for each exercise."""

    def load(self) -> Iterator[ExerciseTask]:
        for task in environment(0).tasks:
            if not self.config.exercises or task["exercise"] in self.config.exercises:
                (message,) = task["prompt"]
                data = ExerciseData(id=task["exercise"], exercise=task["exercise"], prompt=message["content"])
                yield ExerciseTask(data, self.config.task)


class TurnsConfig(vf.EnvConfig):
    """turns: replies at most; hints: steps of help in the feedback, from 0 to 3."""

    agent: vf.AgentConfig = vf.AgentConfig()
    turns: int = 1
    hints: int = 0


class TurnsEnv(vf.Env[TurnsConfig]):
    """A conversation that ends with a reply that passes."""

    async def run(self, task: ExerciseTask, agents: vf.Agents) -> None:
        async with agents.agent.interaction(task) as interaction:
            segment = await interaction.turn()
            for _ in range(self.config.turns - 1):
                if segment.terminated:
                    return
                judged = environment(self.config.hints)
                outcome = await judged.judge_async(task.data.exercise, segment.last_reply)
                if outcome.passed:
                    return
                segment = await interaction.turn(outcome.feedback)


__all__ = ["ExercisesTaskset", "TurnsEnv"]
