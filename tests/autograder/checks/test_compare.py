"""Tolerances follow dtype and length; nothing that is not finite slips through."""

import math

import pytest
import torch

from autograder.checks.compare import (
    FORM,
    LazySpread,
    RaisedError,
    Tolerance,
    agree,
    compare,
    compare_form,
    compare_values,
    values_agree,
    wrong_entries,
)
from autograder.sandbox.inside import wire


def test_rounding_passes_and_a_small_error_does_not():
    value = torch.linspace(0.1, 1, 16)
    assert compare(value, value * (1 + 2e-7)) is None
    assert compare(value, value + 1e-4) is not None


def test_absolute_size_does_not_hide_errors():
    value = torch.full((4,), 1e-6)
    assert compare(value, torch.zeros(4)) is not None


def test_float64_is_held_to_float64():
    value = torch.ones(3, dtype=torch.float64)
    assert compare(value, value + 1e-8) is not None
    assert compare(value, value + 1e-12) is None  # torch's own losses have an epsilon of that size


def test_mappings_are_paired_by_key_and_own_types_by_their_parts():
    one, two = torch.ones(2), torch.zeros(2)
    assert compare({"a": one, "b": two}, wire.DictCopy({"b": two, "a": one})) is None
    assert compare((one, two), wire.NamedTupleCopy((one, two), names=("first", "second"))) is None
    assert "a dataclass where a dict" in compare({"a": one}, wire.MappingCopy({"a": one})).message
    assert compare_values({"a": one}, wire.MappingCopy({"a": one})) is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (torch.ones(1, 3), torch.ones(3)),
        (torch.tensor([True, False]), torch.tensor([1.0, 0.0])),
        (torch.ones(2), torch.ones(2, dtype=torch.float64)),
        ((1, [2, 3]), [1, (2, 3)]),
        (True, 1),
        (0.5, torch.tensor(0.5)),
        (torch.tensor(2.0), 2),
    ],
)
def test_right_values_in_another_form(expected, actual):
    assert compare_values(expected, actual) is None and compare_form(expected, actual) is not None


def test_wrong_values_are_wrong_in_any_form():
    for expected, actual in [
        (torch.tensor([True, False]), torch.tensor([2.0, 0.0])),
        (torch.ones(2, 3), torch.ones(3, 2)),
        (torch.tensor([1]), torch.tensor([1.5])),
        ([1, 2], [1, 2, 3]),
        (1, True + 1),
        (1.0, 10**395),
        (torch.ones(()), 10**395),
    ]:
        assert compare_values(expected, actual) is not None, (expected, actual)
    assert compare_form(torch.ones(2), torch.zeros(2)) is compare_form([1], [2, 3]) is None


NAN, INF = float("nan"), float("inf")
ANSWERS = [
    *(torch.tensor(one) for one in ([1.0, 2.0], [1.0, 2.0 + 2e-7], [1.0, 2.0 + 1e-5], [1.0, 9.0], [[1.0, 2.0]])),
    *(torch.tensor(one) for one in ([NAN, 2.0], [NAN, 3.0], [2.0, NAN], [INF, 2.0], [-INF, 2.0], [INF, 2.0 + 1e-5])),
    torch.tensor([1.0, 2.0], dtype=torch.float64),
    torch.tensor([1.0, 2.01], dtype=torch.bfloat16),
    *(torch.tensor(one) for one in ([1, 2], [1, 3], [True, False], [True, True], [1 + 2j, 0j], [1 + 2j, 1j])),
    *(torch.zeros(0), torch.zeros(0, 2), torch.tensor(0.5), 0.5, 1, True, None, "text", RaisedError("exception", "E")),
]
PAIRS = [(one, two) for one in ANSWERS for two in ANSWERS]
TOLERANCES = [
    Tolerance(),
    Tolerance(64, scale=50.0),
    Tolerance(scale=NAN),
    Tolerance(spread=LazySpread(lambda: 3e-6)),
    Tolerance().for_rounding(2.0),
    FORM,
]


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_answers_agree_where_comparing_finds_no_difference(tolerance):
    """What is quick says the same as what describes the difference, and as each entry by itself."""
    for one, two in PAIRS:
        assert agree(one, two, tolerance) is (compare(one, two, tolerance) is None), (one, two)
        assert values_agree(one, two, tolerance) is (compare_values(one, two, tolerance) is None), (one, two)
        wrong = None if tolerance is FORM else wrong_entries(one, two, tolerance)
        if wrong is not None and one.dtype == two.dtype:
            assert agree(one, two, tolerance) is not bool(wrong.any()), (one, two)


@pytest.mark.parametrize(
    ("tree", "other"),
    [
        (lambda one: (torch.ones(2), one), lambda one: (torch.ones(2), one)),
        (lambda one: (one, 1), lambda one: [one, 1]),
        (lambda one: {"a": one, "b": 1}, lambda one: {"b": 1, "a": one}),
        (lambda one: {"a": one}, lambda one: {"b": one}),
        (lambda one: (one,), lambda one: (one, one)),
    ],
)
def test_parts_of_answers_agree_where_comparing_finds_no_difference(tree, other):
    for one, two in PAIRS[::3]:
        assert agree(tree(one), other(two)) is (compare(tree(one), other(two)) is None), (one, two)


def test_nan_is_never_right():
    found = compare(torch.ones(2), torch.tensor([1.0, float("nan")]))
    assert found is not None and found.where == (1,)


def test_shape_dtype_kind():
    assert "shape [2]" in compare(torch.ones(3), torch.ones(2)).message
    assert "float64" in compare(torch.ones(2), torch.ones(2, dtype=torch.float64)).message
    assert "return" in compare(torch.ones(2), None).message
    assert compare(True, 1) is not None
    assert compare([1, 2], [1, 2, 3]) is not None


def test_a_pair_is_a_tuple_and_a_list_is_a_list():
    """The contract of the exercises says which; what JSON would not tell apart is told apart here."""
    assert compare([("a", "b")], [("a", "b")]) is None
    assert "a list where a tuple of 2" in compare([("a", "b")], [["a", "b"]]).message
    assert "a tuple where a list of 2" in compare([1, 2], (1, 2)).message


def test_exceptions_are_alike_by_name():
    assert compare(RaisedError("exception", "TypeError: a"), RaisedError("exception", "TypeError: b")) is None
    assert compare(torch.ones(1), RaisedError("timeout", "too slow")) is not None


def test_longer_sums_and_larger_scores_may_err_more():
    value = torch.ones(2)
    assert Tolerance(64).bound(value) > Tolerance(16).bound(value)
    assert Tolerance(16, 100.0).bound(value) > Tolerance(16).bound(value)


def test_ill_conditioned_gradients_get_room():
    """A layer norm of two nearly equal numbers amplifies roundings; one of two far apart does not."""
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Case, Draw
    from autograder.checks.properties._probes import gradient_probe

    def norm(x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])

    reference = LocalSubject({"norm": norm})
    close = Case("norm", (torch.tensor([[0.5, 0.5 + 1e-5]]),))
    far = Case("norm", (torch.tensor([[-0.5, 0.5]]),))
    room = [float(gradient_probe(case, Draw(1), reference).tolerance.spread) for case in (far, close)]
    assert room[0] < 1e-6 < room[1]


def test_an_answer_that_is_more_exact_than_the_reference_gets_room():
    """The gradient of a norm over one number cancels: in float32, here the reference, less is left than in float64."""
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Case, Check, Draw, examine
    from autograder.checks.properties._probes import gradient_probe

    def norm(x):
        return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()

    def wide_norm(x):
        return norm(x.double()).to(x.dtype)

    def without_gradient_of_the_norm(x):
        return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt().detach()

    reference = LocalSubject({"norm": norm})
    cases = [Case("norm", (Draw(seed).normal(4, 1),)) for seed in range(200)]
    check = Check("gradients", lambda draw, ref: [gradient_probe(case, draw, ref) for case in cases])

    def failures(answer):
        (finding,) = examine([check], LocalSubject({"norm": answer}), reference, 0)
        return len(finding.failed)

    assert failures(wide_norm) == failures(norm) == 0
    assert failures(without_gradient_of_the_norm) == len(cases)


def test_room_for_an_ill_conditioned_input_is_measured_only_where_it_is_needed():
    calls = []
    spread = LazySpread(lambda: calls.append(1) or 0.5)
    expected = torch.tensor([1.0, 2.0])
    assert compare(expected, expected + 1e-7, Tolerance(spread=spread)) is None and not calls
    assert compare(expected, expected + 1.0, Tolerance(spread=spread)) is None and calls == [1]
    assert compare(expected, expected + 9.0, Tolerance(spread=spread)) is not None and calls == [1]


ROUNDED = [  # of x, what is right in float64; the last two are not
    (lambda x: (x + 1e3) - 1e3, False),  # more than some rounding errors
    (lambda x: (x + 30) - 30, True),
    (lambda x: x + 1e-6, False),
    (lambda x: x * (1 + 1e-5), False),
    (lambda x: x.float().add(30).sub(30).to(x.dtype), False),  # in float64, too
]


@pytest.mark.parametrize(("wrong", "forgiven"), ROUNDED)
def test_rounding_is_forgiven_where_float64_is_right(wrong, forgiven):
    from autograder.checks import values
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Case, examine

    check = values(lambda draw: [Case("f", (0.1 * draw.normal(5),))])
    reference = LocalSubject({"f": lambda x: x})
    found = examine([check], LocalSubject({"f": wrong}), reference, 1)
    assert bool(found[0].failed) is not forgiven
    assert compare(torch.tensor([0.1]), torch.tensor([0.1 + 4e-6])) is not None  # no answer is, by its size alone


def messages(reference, answer, size):
    from autograder.checks import values
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Case, examine

    check = values(lambda draw: [Case("f", (size * draw.normal(5),))])
    found = examine([check], LocalSubject({"f": answer}), LocalSubject({"f": reference}), 1)
    return [reply.difference.message for reply in found[0].failed]


def test_the_room_for_rounding_is_one_for_each_part_of_an_answer():
    """Beside a large part, a small one that is right in float64 alone is not forgiven."""
    large = torch.full((2,), 1e4)
    both = lambda x: (large.to(x), 1e-6 * x)
    (message,) = messages(both, lambda x: (large.to(x), 1e-6 * x + 10 - 10), 1.0)
    assert message.startswith("the result[1]")
    assert messages(both, lambda x: (large.to(x), 1e-6 * (x + 30) - 3e-5), 1.0) == []


def test_an_error_that_is_rounding_alone_is_called_so():
    rounded, wrong = lambda x: (x + 1e3) - 1e3, lambda x: x + 1e-4
    (message,) = messages(lambda x: x, rounded, 0.1)
    assert message.endswith("entries differ); in float64 it is right, so this is rounding alone")
    (message,) = messages(lambda x: x, wrong, 0.1)
    assert message.endswith("entries differ)")


def test_the_room_of_a_layer_in_bfloat16_is_measured_in_its_own_dtype():
    """A coarse input that is moved by a rounding error stays coarse, or the layer's weights would not fit it."""
    from autograder.checks.local import LocalSubject
    from autograder.checks.probe import Case
    from autograder.checks.properties._probes import cast, value_probe

    state = {"weight": torch.full((2, 3), 0.3), "bias": torch.zeros(2)}
    case = cast(Case("Linear", (torch.full((4, 3), 0.7),), init=(3, 2), state=state), torch.bfloat16)
    probe = value_probe(case, LocalSubject({"Linear": torch.nn.Linear}))
    assert 0 < float(probe.tolerance.spread) < 0.1


def test_an_outline_has_neither_numbers_nor_addresses():
    messages = [
        "TypeError: <function f at 0x7f3a9c> takes 2, got 3",
        "TypeError: <function f at 0x55be01> takes 4, got 12",
    ]
    one, other = (RaisedError("exception", message).outline for message in messages)
    assert one == other and "takes" in one


def test_complex_values_are_compared_as_they_are():
    one, other = torch.tensor([1.0, 2.0 + 1j]), torch.tensor([1.0, 2.0 + 4j])
    assert compare(one, one.clone()) is None
    found = compare(one, other)
    assert found is not None and (found.where, found.deviation) == ((1,), 3.0)
    infinite = compare(one, torch.tensor([1.0, complex(math.inf, 0)]))
    assert infinite is not None and "where a finite number is expected" in infinite.message


@pytest.mark.filterwarnings("error")
def test_a_real_number_in_place_of_a_complex_one_is_compared_with_it():
    assert compare_values(torch.tensor([1.0 + 0j]), torch.tensor([1.0])) is None
    assert compare_values(torch.tensor([1.0 + 1j]), torch.tensor([1.0])) is not None


def test_a_return_is_missing_only_where_the_code_gives_none():
    given, wanted = compare("a", None), compare(None, "a")
    assert (
        given is not None
        and given.message == "the result is None (is a `return` missing?) where a value of type str is expected"
    )
    assert wanted is not None and wanted.message == "the result is a value of type str where None is expected"
