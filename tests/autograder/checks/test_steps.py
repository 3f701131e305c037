"""The first layer that gets or gives something else is found, in whatever style the rest is written."""

import pytest

from autograder.checks import Case, flow
from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers, examine
from autograder.checks.reference import reference_of
from autograder.checks.steps import first_wrong_step
from autograder.corpus.judge import ask_reference
from autograder.exercises import registry
from autograder.exercises.answers import answers

LAYER = registry.find("transformer.encoder_layer")


@pytest.fixture(scope="module")
def question_sets():
    return [(check, pairs) for check, pairs in ask_reference(LAYER, 2) if check.core]


def told(question_sets, source):
    namespace: dict = {"__name__": "answer"}
    exec(source, namespace)
    subject = LocalSubject(namespace)
    return first_wrong_step(collect_answers(question_sets, subject), subject, reference_of(LAYER))


@pytest.mark.parametrize(
    "name, said",
    [
        ("no_residual_around_attention", "the inputs of `norm1`"),
        ("no_residual_around_feed_forward", "the inputs of `norm2`"),
        ("one_norm_for_both", "`norm2` is not called"),
        ("mask_ignored", "the inputs of `self_attn.o_proj`"),
    ],
)
def test_layers(question_sets, name, said):
    paths = {path.stem: path for path in answers(LAYER, "wrong")}
    assert told(question_sets, paths[name].read_text(encoding="utf-8")).startswith(said)


def test_nothing_is_told_of_what_is_right_or_stops(question_sets):
    right = answers(LAYER, "right")[0].read_text(encoding="utf-8")
    assert told(question_sets, right) is None
    assert told(question_sets, right + "\n    def forward(self, x, mask=None):\n        raise ValueError") is None


def test_a_leak_is_drawn():
    """An output that looks one place too far: ▲ beside the diagonal. One that does not look at itself: ○ on it."""
    right = "def shift(x):\n    return x.cumsum(1)"
    wrong = "def shift(x):\n    return x.cumsum(1) - x + x.roll(-1, 1)"
    check = flow(lambda draw: [Case("shift", (draw.normal(1, 3, 2),))], 0)
    namespaces: list[dict] = [{}, {}]
    for source, namespace in zip((right, wrong), namespaces, strict=True):
        exec(source, namespace)
    finding = examine([check], LocalSubject(namespaces[1]), LocalSubject(namespaces[0]), 1)[0]
    assert finding.map == ("○▲·", "●○▲", "●●○")
