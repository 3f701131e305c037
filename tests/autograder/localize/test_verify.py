"""A line is shown only where the right value in its place repairs the answer, or where an exception is raised."""

from __future__ import annotations

import pytest

from autograder.api import Verdict
from autograder.checks.compare import RaisedError
from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers
from autograder.checks.reference import reference_of
from autograder.checks.shrink import shrink_counterexample
from autograder.corpus.judge import ask_reference
from autograder.diagnosis.compose import subject_of
from autograder.diagnosis.diagnose import counterexample
from autograder.exercises import registry
from autograder.exercises.answers import answer, answers
from autograder.feedback.html import verdict_html
from autograder.feedback.matrix import corner
from autograder.feedback.text import verdict_text
from autograder.localize import find, trace
from autograder.localize.fault import localize_fault

DECODER, ATTEND = "masks.decoder", "attention.attend"
ATTENTION, LAYER = "attention.scaled_dot_product", "transformer.encoder_layer"


@pytest.fixture
def without_decisions(monkeypatch):
    """Lines are described as where no single change makes the answer right."""
    monkeypatch.setattr(find, "decide", lambda found, *_: found)


def departure(exercise_id, source, edges=False, **cells):
    """What a verdict says of the line. `cells`: those before the answer, by name; `edges`: all checks are asked."""
    exercise = registry.find(exercise_id)
    core = [(check, pairs) for check, pairs in ask_reference(exercise, 3) if check.core or edges]
    namespace: dict = {"__name__": "answer"}
    for text in (*cells.values(), source):
        exec(text, namespace)
    subject = LocalSubject(namespace)
    every = [*cells.items(), ("own", source)]
    return localize_fault(exercise, collect_answers(core, subject), subject, every, own={"own"})


def line_of(source, words):
    return next(n for n, line in enumerate(source.splitlines(), 1) if words in line)


def test_of_two_wrong_lines_none_is_sure():
    found = departure(DECODER, """
import torch
def decoder_mask(ids, pad_id):
    future = torch.ones(ids.shape[1], ids.shape[1]).triu().bool()
    padding = (ids == pad_id)[:, None, None]
    return future & padding
""")  # fmt: skip
    assert found["line"] is None and found["sentence"] == found["text"] == "" and found["steps"]


def test_a_way_of_ones_own_is_blamed_for_its_one_step_alone():
    """No right answer computes its values, but without the division by the norms they make the answer right."""
    found = departure(ATTEND, """
import torch
def attend(query, keys, mask=None):
    one, other = (x / x.norm(dim=-1, keepdim=True) for x in (query, keys))
    scores = (one[:, None] * other).sum(-1)
    weights = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1)
    return (weights[..., None] * keys).sum(1), weights
""")  # fmt: skip
    assert found["text"].startswith("one, other = ")
    assert found["sentence"] == (
        "`x / x.norm(dim=-1, keepdim=True)` has a part too many; with its left side alone your values are right"
    )


PRODUCT = """
import math
def product(a, b):
    return a @ b

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = product(q, k.mT) / math.sqrt(q.shape[-1])
    scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1).nan_to_num()
    return product(WEIGHTS, v), weights
"""


def test_the_call_is_shown_where_the_code_that_it_calls_is_right_elsewhere():
    source = PRODUCT.replace("WEIGHTS", "scores.softmax(-1).nan_to_num() * 2")
    assert departure(ATTENTION, source)["line"] == line_of(source, "* 2")
    source = """
import torch
def inner(a, b, mask):
    s = a @ b.mT
    return s if mask is None else torch.where(mask, s, -torch.inf)

def scaled_dot_product_attention(q, k, v, mask=None):
    sizes = inner(q, k, None)
    scores = inner(q, k, None) / q.shape[-1] ** 0.5
    weights = scores.softmax(-1).nan_to_num()
    return weights @ v, weights
"""
    found = departure(ATTENTION, source)
    assert found["line"] is None or found["line"] > line_of(source, "def scaled")


def test_of_a_call_with_another_argument_it_is_said_that_its_code_is_right(without_decisions):
    source = PRODUCT.replace("product(WEIGHTS, v)", "product(weights, k)")
    found = departure(ATTENTION, source)
    assert found["line"] == line_of(source, "weights, k")
    assert found["sentence"] == (
        "this call of `product` goes wrong, while the code that it calls is right in its other calls"
    )


ENCODER = """
from tfkit.nn import FeedForward, MultiHeadAttention
from torch import nn

class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model, eps=0.5)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.self_attn(x, x, x, mask)[0])
        return self.norm2(x + self.ff(x))
"""


def test_of_a_part_that_is_built_otherwise_the_line_is_shown_that_makes_it():
    found = departure(LAYER, ENCODER)
    assert found["line"] == line_of(ENCODER, "eps=0.5")
    assert found["sentence"] == (
        "`norm2`, which is made here, gives another value for the same input than right answers' does"
    )


def test_of_a_part_that_two_lines_make_none_is_shown():
    twice = ENCODER.replace("self.norm2 = ", "self.norm2 = self.norm1\n        self.norm2 = ")
    assert departure(LAYER, twice)["line"] is None


def test_a_line_of_another_cell_says_so():
    first, _, second = PRODUCT.partition("\ndef scaled")
    helper = first.replace("a @ b", "2 * a @ b")
    found = departure(ATTENTION, "def scaled" + second.replace("WEIGHTS, v", "weights, v / 2"), helper=helper)
    assert found["cell"] == "helper" and found["line"] == line_of(helper, "2 * a")
    assert found["sentence"].endswith("; this line is in another cell, which begins with `import math`")


def test_an_error_is_told_with_its_last_line_and_the_shapes_there():
    source = PRODUCT.replace("product(WEIGHTS, v)", "weights @ v.mT")
    found = departure(ATTENTION, source)
    assert found["line"] == line_of(source, "v.mT")
    assert found["sentence"].startswith("the code stops with an error here: RuntimeError: ")
    assert "`weights` has shape " in found["sentence"] and "`v` has shape " in found["sentence"]


@pytest.mark.parametrize("line", [3, None])
def test_a_card_without_a_sure_line_marks_none(line):
    steps = [{"cell": "a", "line": 3, "text": "x = y", "yours": [2], "right": [2], "known": False}]
    told = {"cell": "a", "line": line, "text": "x = y", "sentence": "`x` is wrong", "value": None, "steps": steps}
    verdict = Verdict(exercise=ATTEND, status="failed", score=0, max_score=2, departure=told).as_json()
    assert ('class="tfkit-v-line ' in verdict_html(verdict)) is (line is not None)
    assert ('class="tfkit-v-here"' in verdict_html(verdict)) is (line is not None)
    assert 'class="tfkit-v-steps"' in verdict_html(verdict)
    assert ("`x` is wrong" in verdict_text(verdict)) is (line is not None)


def test_a_line_in_a_loop_is_compared_with_what_right_answers_hold_in_that_round():
    """A whole value of a right answer, of which each round is given a slice, has another shape than any round's."""
    found = departure("convbert.dynamic_conv", """
import torch
import torch.nn.functional as F
def span_dynamic_conv(value, kernel_logits):
    width, length = kernel_logits.shape[-1], value.shape[-2]
    weights = torch.softmax(kernel_logits, dim=-1)
    padded = F.pad(value, (0, 0, width // 2, width // 2))
    out = 0
    for w in range(width):
        out = out + weights[..., w, None] * padded[..., width - 1 - w:width - 1 - w + length, :]
    return out
""")  # fmt: skip
    assert found["sentence"].startswith("`out` is not what it should be")


def test_a_line_that_collects_wrong_parts_is_not_marked():
    """With the right result in its place the answer is right, but so it is wherever the parts went wrong before."""
    found = departure("decoding.greedy", """
import torch
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    columns = [start_ids]
    finished = torch.zeros_like(start_ids, dtype=torch.bool)
    for _ in range(max_new_tokens):
        token = torch.argmax(step(torch.stack(columns, dim=1)), dim=-1)
        finished |= token == end_id
        token = token.masked_fill(finished, pad_id)
        columns.append(token)
        if finished.all():
            break
    return torch.stack(columns, dim=1)
""")  # fmt: skip
    assert found["steps"] and found["line"] is None


def test_a_line_is_not_blamed_for_the_order_in_which_another_one_left_a_list():
    found = departure("attention.split_heads", """
import torch
def split_heads(x, heads):
    parts = list(torch.chunk(x, heads, dim=2))
    parts.reverse()
    return torch.stack(parts, 1)
def merge_heads(x):
    return x.transpose(1, 2).flatten(2)
""")  # fmt: skip
    assert found["steps"] and found["line"] is None


def test_a_value_that_right_answers_compute_is_not_called_wrong():
    """The difference is right; its absolute value is missing. Other numbers in its place give the right name, too."""
    exercise = registry.find("debugging.first_difference")
    found = departure(exercise.id, answer(exercise, "sign_of_the_difference").read_text())
    assert found is None or not found["sentence"].startswith("`mine - right`")


def test_a_missing_scale_is_told_of_the_last_product():
    """Right answers compute the first product as it is, and scale the second."""
    source = """
import torch
def latent_attention(q, c, w_k, w_v, mask=None):
    absorbed = q @ w_k.transpose(1, 2)
    scores = torch.einsum("bhqr,bkr->bhqk", absorbed, c)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30)
    weights = scores.softmax(-1)
    return (weights @ c[:, None]) @ w_v
"""
    found = departure("modern.latent_attention", source)
    assert found["line"] in (None, line_of(source, "scores = torch.einsum"))


def test_what_a_method_changes_is_called_by_its_name():
    found = departure("objectives.translation_lm", """
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source_ids.append(sep_id)
    target_ids.append(sep_id)
    positions = [*range(len(source_ids)), *range(len(target_ids))]
    langs = [source_lang] * len(source_ids) + [target_lang] * len(target_ids)
    return source_ids + target_ids, positions, langs
""", edges=True)  # fmt: skip
    assert found["line"] == 3 and found["sentence"] == "this changes `source_ids`, which the caller still needs"


def test_a_part_of_a_line_is_quoted():
    found = departure("tuning.reward_loss", """
import torch
import torch.nn.functional as F
def reward_loss(chosen, rejected):
    return -F.logsigmoid(rejected - chosen).mean()
""")  # fmt: skip
    assert found["sentence"] == (
        "`rejected - chosen` has its two operands the wrong way round; with them exchanged your values are right"
    )


def test_a_line_that_sets_parts_is_not_marked_for_the_parts_that_no_line_sets():
    """The fault is in the number of rounds, yet the right whole in place of the one that is set repairs the answer."""
    found = departure("reformer.chunked", """
import torch
def chunked_feed_forward(f, x, chunk):
    y = x.clone()
    for c in range(x.shape[1] // chunk):
        part = slice(c * chunk, (c + 1) * chunk)
        y[:, part, :] = f(x[:, part, :])
    return y
""")  # fmt: skip
    assert found["steps"] and found["line"] is None


def test_a_value_that_is_right_but_for_an_edge_is_not_right_at_the_edge():
    """Collected answers that are wrong at edges alone hold the same NaN there."""
    source = """
import math
from torch import nn
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask):
        parts = self.q_proj, self.k_proj, self.v_proj
        q, k, v = (part(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in parts)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(-1)
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHead(d_model, n_heads)
        self.ff = nn.ModuleDict(dict(up=nn.Linear(d_model, d_ff), down=nn.Linear(d_ff, d_model)))
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.self_attn(x, mask))
        return self.norm2(x + self.ff["down"](self.ff["up"](x).relu()))
"""
    found = departure(LAYER, source, edges=True)
    assert found["line"] == line_of(source, "weights =")
    assert found["value"]["start"] == [1, 0, 0, 0]  # the second text's, since the first one's are right
    assert "from batch 1, head 0, row 0, column 0 on" in corner(found["value"])
    known = {step["text"]: step["known"] for step in found["steps"]}
    assert not known["weights = scores.softmax(-1)"]


def test_a_mask_that_is_turned_is_not_taken_for_a_right_one():
    found = departure(DECODER, """
import torch
def decoder_mask(ids, pad_id):
    future = torch.ones(ids.shape[1], ids.shape[1]).triu().bool()
    future = future[None, None]
    real = (ids != pad_id)[:, None, None, :]
    return real & future
""")  # fmt: skip
    assert found["line"] in (None, 4) and not found["steps"][0]["known"]


def test_a_trace_that_takes_too_long_is_no_error_of_the_answer(monkeypatch):
    """The answer's own calls ended; only its slower run with all values recorded did not."""
    source = """
import math
import torch
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / q.shape[-1]
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
"""

    assert departure(ATTENTION, source)["line"] == line_of(source, "scores =")
    observe = trace.observe
    late = RaisedError("TimeLimitExceeded", "it did not finish in 2 s")

    def observe_late(subject, probe):
        observe(subject, probe)
        return late

    monkeypatch.setattr(trace, "observe", observe_late)
    assert departure(ATTENTION, source) is None


def test_right_rows_in_wrong_places_do_not_make_a_value_right():
    found = departure("mmbt.inputs", """
import torch
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    B, N, _ = image_features.shape
    S, E = text_embeddings.shape[1:]
    out = torch.cat([image_features @ w, text_embeddings], 1)
    segments = torch.cat([segment[1].expand(N, E), segment[0].expand(S, E)])
    return out + segments + torch.cat([position[:N], position[:S]])
""")  # fmt: skip
    assert found["line"] is None  # no bias, and the segments exchanged


SPECULATIVE = """
import torch
def draw(p, u):
    below = (p / p.sum()).cumsum(-1)
    index = torch.searchsorted(below, torch.tensor(float(u), dtype=below.dtype), right=True).item()
    return min(index, p.nonzero().max().item())


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    kept = []
    for x, p, q, u in zip(draft_ids, target_probs, draft_probs, accept_u):
        if not u < (p[x] / q[x]).item():
            return kept + [draw((p - q).relu(), last_u)]
        kept.append(x)
    return kept + [draw(target_probs[len(kept) - 1], last_u)]
"""


def test_right_code_is_not_blamed_for_the_argument_from_which_it_makes_a_number():
    assert departure("decoding.speculative", SPECULATIVE)["line"] is None


def test_a_call_of_an_object_that_was_changed_before_is_not_blamed():
    found = departure("inside.patch", """
def run_patched(module, child, value, *args):
    handles = [part.register_forward_hook(lambda *_: value)
               for name, part in module.named_modules() if name.split(".")[-1] == child.split(".")[-1]]
    try:
        return module(*args)
    finally:
        for handle in handles:
            handle.remove()
""")  # fmt: skip
    assert found is None or found["line"] is None


def on_the_example(exercise_id, source):
    """What a verdict says of the line, and the smallest example that it shows."""
    exercise = registry.find(exercise_id)
    subject = LocalSubject.from_source(source, "own")
    found = collect_answers([pair for pair in ask_reference(exercise, 3) if pair[0].core], subject)
    right = [subject_of(path) for path in answers(exercise, "right")]
    found = shrink_counterexample(found, subject, reference_of(exercise), right)
    return localize_fault(exercise, found, subject, [("own", source)], own={"own"}), counterexample(exercise, found)


def test_the_walk_has_the_input_of_the_example():
    source = """
import math, torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-2).nan_to_num()
    return weights @ v, weights
"""
    found, example = on_the_example(ATTENTION, source)
    assert found["line"] == line_of(source, "softmax(-2)")
    query, key = example["inputs"]["q"], example["inputs"]["k"]
    *_, scores, weights = (step for step in found["steps"] if step["value"])
    assert scores["yours"][-2:] == [len(query[-1]), len(key[-1])] and weights["yours"] == scores["yours"]
    shown = found["value"]["value"]
    assert [sum(column) for column in zip(*shown, strict=True)] == pytest.approx([1.0] * len(shown[0]), abs=1e-3)


def test_a_relation_that_the_example_is_too_small_for_is_said_of_a_larger_input(without_decisions):
    source = """
import math, torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1).nan_to_num()
    return weights @ v, weights
"""
    found, example = on_the_example(ATTENTION, source)
    assert "is not what it should be; on a larger input it is" in found["sentence"]
    assert found["value"]["shape"][-1] == len(example["inputs"]["k"][-1])


def test_what_follows_may_undo_the_exchange_of_a_first_value():
    """With the right mask in place of the ones, any wider band leaves it as it is."""
    found = departure("sparse.local_global", """
import torch
def local_global_mask(length, window, global_positions):
    ones = torch.ones(length, length)
    band = torch.tril(torch.triu(ones, -window), window).bool()
    for position in global_positions:
        band[position, :] = True
        band[:, position] = True
    return band
""")  # fmt: skip
    assert found is None or "ones = " not in found["text"]


def test_numbers_in_a_shape_of_their_own_are_not_surely_right():
    """Reshaped without its axes exchanged, a value has the numbers of a right one in its order."""
    source = """
import torch
from torch import nn
from tfkit.nn import scaled_dot_product_attention
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = [nn.Linear(d_model, d_model) for _ in range(4)]
    def split(self, t):
        return t.unflatten(-1, (self.heads, -1)).permute(0, 2, 1, 3)
    def forward(self, query, key, value, mask=None):
        q, k, v = map(self.split, (self.q_proj(query), self.k_proj(key), self.v_proj(value)))
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        context = context.reshape(query.shape)
        return self.o_proj(context), weights
"""
    assert departure("attention.multi_head", source)["line"] in (None, line_of(source, "reshape"))


def test_a_line_that_only_shapes_is_not_blamed_for_what_it_shapes():
    source = """
import torch
def padding_mask(ids, pad_id):
    mask = torch.eq(ids, pad_id)
    mask = mask.unsqueeze(1)
    return mask.unsqueeze(1)
"""
    assert departure("masks.padding", source)["line"] == line_of(source, "eq")


def test_of_a_sum_that_is_divided_in_vain_the_division_is_shown():
    source = """
import torch
def sequence_log_probs(logits, labels):
    scores = logits[:, :-1].log_softmax(-1)
    wanted = labels[:, 1:]
    counted = wanted != -100
    picked = scores.gather(-1, wanted.clamp(min=0)[..., None])[..., 0] * counted
    total = picked.sum(-1)
    return total / counted.sum(-1).clamp(min=1)
"""
    assert departure("tuning.sequence_log_probs", source)["line"] in (None, line_of(source, "total /"))


COUNTED = {
    "modern.sink_mask": """
import torch
def sink_mask(length, window, sinks):
    at = torch.arange(length)
    ago = at[:, None] - at
    recent = window - sinks
    return ((ago < recent) | (at < sinks)) & (ago >= 0)
""",
    "convbert.dynamic_conv": """
import torch
import torch.nn.functional as F
def span_dynamic_conv(value, kernel_logits):
    width, length = kernel_logits.shape[-1], value.shape[-2]
    weights = torch.softmax(kernel_logits, dim=-1)
    padded = F.pad(value, (0, 0, width // 2, width // 2))
    out = 0
    for w in range(width):
        start = width - 1 - w
        out = out + weights[..., w, None] * padded[..., start:start + length, :]
    return out
""",
}


@pytest.mark.parametrize("exercise_id", COUNTED)
def test_a_line_is_not_blamed_for_a_number_that_another_one_computed(exercise_id):
    source = COUNTED[exercise_id]
    found = departure(exercise_id, source)
    assert found["line"] in (None, line_of(source, "recent = " if "recent" in source else "start = "))


def test_a_bound_that_the_line_computes_itself_is_its_own_fault():
    found = departure("modern.sink_mask", source := """
import torch
def sink_mask(length, window, sinks):
    at = torch.arange(length)
    ago = at[:, None] - at
    near = ago < window - sinks
    return (near | (at < sinks)) & (ago >= 0)
""")  # fmt: skip
    assert found["line"] == line_of(source, "near =")
