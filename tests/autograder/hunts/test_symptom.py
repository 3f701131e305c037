"""The symptom of a hunt comes from running its code, and shows a difference from right code."""

import pytest
import torch

from autograder.checks.local import LocalSubject
from autograder.diagnosis.diagnose import student_sentence
from autograder.exercises import registry
from autograder.hunts import make
from autograder.hunts.symptom import Symptom, _window, question_sets, symptom


def seen(name: str, seed: int = 0) -> Symptom:
    found = symptom(make.find(name), seed)
    assert found is not None
    return found


def test_a_mask_is_drawn_beside_the_right_one():
    found = seen("masks.causal/sees_one_ahead")
    length = found.inputs["length"]
    ones = torch.ones(length, length, dtype=torch.bool)
    assert length > 2
    assert (found.faulty, found.right) == (ones.tril(1).tolist(), ones.tril().tolist())
    assert found.wrong == (ones.tril(1) & ones.triu(1)).tolist()


def test_numbers_in_place_of_a_mask_are_drawn_as_whole_as_a_mask():
    found = seen("masks.causal/minus_infinities")
    assert len(found.faulty) == len(found.right) > 2 and found.words[0].startswith("Its result is of type float32")


def test_a_layer_is_said_to_have_drawn_parameters():
    (first, *_) = make.hunts(registry.find("transformer.feed_forward"))
    assert "Both have the same parameters, which were drawn." in seen(first.id).notes


def test_the_result_shown_is_what_the_code_gives_for_the_input_shown():
    hunt = make.find("rnn.cell/bias_counted_twice")
    found = seen(hunt.id)
    given = [torch.tensor(value) for value in found.inputs.values()]
    for code, shown in ((hunt.code, found.faulty), (hunt.repair, found.right)):
        result = LocalSubject.from_source(code).call("rnn_cell", *given)
        assert torch.allclose(result, torch.tensor(shown), atol=1e-4)


def test_who_depends_on_whom_is_said_in_words_and_drawn():
    found = seen("transformer.encoder_layer/mask_ignored")
    assert any("▲" in row for row in found.map)
    leak = next(line for line in found.words if line.startswith("Changing the input"))
    column, row = (int(word) for word in leak.replace(";", "").split() if word.isdigit())
    assert found.map[row][column] == "▲"


def test_an_exception_is_told_as_such():
    found = seen("attention.scaled_dot_product/axes_counted_from_the_front")
    assert found.faulty is None and found.words[0].startswith("It stops with IndexError")


def test_gradients_are_looked_at_where_values_are_right():
    found = seen("rnn.cell/state_detached")
    assert found.seen_in == "gradients" and found.part.strip().startswith("gradient of input")
    assert found.faulty != found.right


def test_a_difference_below_the_digits_that_are_shown_is_told():
    found = seen("attention.scaled_dot_product/mask_value_too_small")
    if str(found.faulty) == str(found.right):
        assert any("too small for the digits" in line for line in found.words)
    assert found.shows_a_difference


@pytest.mark.parametrize("name", ["masks.causal", "rnn.cell"])
def test_no_sentence_of_the_unit_is_in_the_symptom(name):
    for hunt in make.hunts(registry.find(name)):
        found = seen(hunt.id)
        sentence = student_sentence(hunt.faults[0]).partition("\n")[0]
        assert found.shows_a_difference
        assert all(sentence not in line and hunt.names[0] not in line for line in found.words)


def test_another_seed_draws_other_inputs():
    sets = [question_sets(registry.find("rnn.cell"), seed) for seed in (0, 0, 1)]
    first = [pairs[0][0].case.args[0] for _, pairs in (one[0] for one in sets)]
    assert torch.equal(first[0], first[1])
    assert first[0].shape != first[2].shape or not torch.equal(first[0], first[2])


def test_a_symptom_without_a_difference_is_known_as_such():
    assert not Symptom("values", faulty=[1.0], right=[1.0]).shows_a_difference
    assert not Symptom("values", map=("●·", "●●")).shows_a_difference
    assert Symptom("values", map=("●▲", "●●")).shows_a_difference
    assert not Symptom("values", notes=("Both have the same parameters, which were drawn.",)).shows_a_difference


def test_of_a_large_tensor_a_window_around_the_wrong_entry_is_shown():
    start, part = _window((2, 30, 30), (1, 29, 0))
    assert part == [1, 8, 8] and start[0] == 1
    assert start[1] <= 29 < start[1] + 8 and start[2] == 0
    assert _window((8, 8), (3, 3)) == ([0, 0], [8, 8])
