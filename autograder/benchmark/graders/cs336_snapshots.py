"""Snapshots: the answer on one random input is compared with a recorded array.

Follows the public tests of Stanford's CS336, assignment 1 (github.com/stanford-cs336/assignment1-basics, the files
test_model.py, test_nn_utils.py and test_optimizer.py; MIT): sizes of a small model, one seed, recorded arrays or
PyTorch's own function, and the tolerances stated there (1e-6 for most, 1e-5 for SwiGLU, 1e-4 for losses and weights,
rtol 1e-4). Written from scratch by this project, with no code or array from there. The arrays are recorded here, from
this project's references; multi-head attention gets the causal mask as an argument, and RMSNorm their eps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from autograder.api import Exercise
from autograder.benchmark.grader import Judgement, TestSource
from autograder.checks.local import LocalSubject
from autograder.checks.reference import reference_of
from autograder.exercises import registry
from autograder.sandbox.base import Backend

HELPERS = """
import numpy, torch
from torch.nn import functional as F
def _randn(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
def _initialised(module):
    for place, value in enumerate(module.parameters()):
        value.data = _randn(100 + place, *value.shape) / value.shape[-1] ** 0.5
    return module
def _close(actual, expected, atol):
    numpy.testing.assert_allclose(actual.detach().numpy(), numpy.array(expected, dtype="float32"), rtol=1e-4, atol=atol)
"""
QKV = "q, k, v, mask = _randn(1, 4, 12, 64), _randn(2, 4, 16, 64), _randn(3, 4, 16, 64), _randn(4, 4, 12, 16) > 0.5\n"
FOUR = "q, k, v = (x.reshape(2, 2, -1, 64) for x in (q, k, v)); mask = mask.reshape(2, 2, 12, 16)\n"
# exercise -> (set-up, expression, absolute tolerance) for each test
SNAPSHOTS: dict[str, list[tuple[str, str, float]]] = {
    "attention.scaled_dot_product": [
        (QKV, "scaled_dot_product_attention(q, k, v, mask)[0]", 1e-6),
        (QKV + FOUR, "scaled_dot_product_attention(q, k, v, mask)[0]", 1e-6),
    ],
    "attention.multi_head": [
        (
            "layer = _initialised(MultiHeadAttention(64, 4)); x = _randn(5, 4, 12, 64)\n"
            "mask = torch.ones(12, 12, dtype=torch.bool).tril()\n",
            "layer(x, x, x, mask)[0]",
            1e-6,
        )
    ],
    "positions.rotary": [("x = _randn(6, 4, 12, 64)\n", "apply_rotary(x, torch.arange(12))", 1e-6)],
    "modern.rms_norm": [("x = _randn(7, 4, 12, 64)\n", "rms_norm(x, _randn(8, 64), 1e-5)", 1e-6)],
    "modern.swiglu": [("layer = _initialised(SwiGLU(64, 128)); x = _randn(9, 4, 12, 64)\n", "layer(x)", 1e-5)],
}
AGAINST_TORCH = {
    "masks.softmax": """
x = _randn(10, 3, 5).abs()
_close(masked_softmax(x, torch.ones(3, 5, dtype=torch.bool)), F.softmax(x, -1), 1e-6)
_close(masked_softmax(x + 100, torch.ones(3, 5, dtype=torch.bool)), F.softmax(x, -1), 1e-6)
""",
    "objectives.causal_lm": """
logits, ids = _randn(11, 2, 5, 6), torch.tensor([[1, 3, 2, 5, 4], [2, 4, 1, 1, 3]])
for scale in (1.0, 1000.0):
    expected = F.cross_entropy(scale * logits[:, :-1].reshape(-1, 6), ids[:, 1:].reshape(-1))
    _close(causal_lm_loss(scale * logits, ids, 0), expected, 1e-4)
""",
    "training.adamw": """
def _train(update):
    torch.manual_seed(42)
    weight = torch.nn.Parameter(torch.randn(2, 3))
    for step in range(1, 1001):
        x = torch.rand(3)
        loss = ((torch.stack([x[0] + x[1], -x[2]]) - weight @ x) ** 2).sum()
        weight.grad, = torch.autograd.grad(loss, weight)
        update(weight, step)
    return weight.detach()
def _torch_update():
    kept = []
    def update(weight, step):
        kept[:] = kept or [torch.optim.AdamW([weight], lr=1e-3, weight_decay=0.01, betas=(0.9, 0.999), eps=1e-8)]
        kept[0].step()
    return update
def _student_update():
    kept = [torch.zeros(2, 3), torch.zeros(2, 3)]
    def update(weight, step):
        new, *kept[:] = adamw_step(weight.detach(), weight.grad, *kept, step, 1e-3)
        weight.data = new
    return update
assert torch.allclose(_train(_student_update()), _train(_torch_update()), atol=1e-4)
""",
}


@dataclass(frozen=True)
class SnapshotTests:
    """Tests whose expected arrays are recorded from the references on first use."""

    title: str
    follows: str
    snapshots: Mapping[str, list[tuple[str, str, float]]]
    others: Mapping[str, str]

    def covers(self, exercise: Exercise) -> bool:
        """Whether it has a test for that exercise."""
        return exercise.id in self.snapshots or exercise.id in self.others

    def judge(self, exercise: Exercise, source: str, backend: Backend) -> Judgement:
        """Accepted if every array is close to the recorded one. Raises SandboxError if no box can be started."""
        body = self.others.get(exercise.id) or record_tests(exercise.id)
        return TestSource(self.title, self.follows, {exercise.id: HELPERS + body}).judge(exercise, source, backend)


@lru_cache(maxsize=32)
def record_tests(name: str) -> str:
    """The source of an exercise's tests, including the reference's arrays."""
    reference: Any = reference_of(registry.find(name))
    return "".join(_tests(SNAPSHOTS[name], reference))


def _tests(snapshots: list[tuple[str, str, float]], reference: LocalSubject) -> Iterator[str]:
    for setup, expression, tolerance in snapshots:
        namespace = dict(reference.namespace)
        exec(HELPERS + setup, namespace)
        array = json.dumps(eval(expression, namespace).tolist())
        yield f"{setup}_close({expression}, {array}, {tolerance})\n"


GRADER = SnapshotTests(
    title="snapshots",
    follows="CS336, assignment 1, public tests (MIT); written anew by this project",
    snapshots=SNAPSHOTS,
    others=AGAINST_TORCH,
)
