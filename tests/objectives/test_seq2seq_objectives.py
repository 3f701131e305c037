"""Span corruption, denoising and gap sentences: nothing is lost, and the batched forms do what the lists do."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tfkit.objectives.denoising import Denoising, delete_tokens, infill, permute_sentences, rotate
from tfkit.objectives.future_ngram import future_ngram_loss
from tfkit.objectives.gap_sentences import gap_sentences, joint_gap_sentences, principal_sentences
from tfkit.objectives.span_corruption import SpanCorruption, random_partition, span_corruption

FIRST, EOS, PAD, MASK = 999, 1, 0, 500


def ragged(lengths, ends=True):
    """Rows of distinct ids from 10 on, each ending in EOS where `ends`."""
    width = max(lengths) + ends
    ids = torch.full((len(lengths), width), PAD)
    for row, n in enumerate(lengths):
        ids[row, :n] = torch.arange(10, 10 + n)
        if ends:
            ids[row, n] = EOS
    mask = torch.arange(width) < torch.tensor(lengths)[:, None] + ends
    return {"input_ids": ids, "attention_mask": mask.long()}


def test_the_papers_example():
    text = "Thank you for inviting me to your party last week ."
    words = text.split()
    inputs, targets = span_corruption(words, [(2, 4), (8, 9)], ["<X>", "<Y>", "<Z>"])
    assert " ".join(inputs) == "Thank you <X> me to your party <Y> week ."
    assert " ".join(targets) == "<X> for inviting <Y> last <Z>"


def restored(inputs, targets):
    """Puts what the targets say back where the sentinels stand."""
    said, key = {}, None
    for token in targets:
        if token > FIRST - 100:
            key = token
            said[key] = []
        else:
            said[key].append(token)
    return [t for token in inputs for t in said.get(token, [token])]


lengths = st.lists(st.integers(1, 40), min_size=1, max_size=4)


@settings(max_examples=50, deadline=None)
@given(lengths, st.integers(0, 2**31), st.floats(0.05, 0.6), st.floats(1, 5))
def test_span_corruption_can_be_undone(lengths, seed, density, mean):
    batch = ragged(lengths)
    objective = SpanCorruption(FIRST, EOS, PAD, density, mean)
    out = objective(batch, torch.Generator().manual_seed(seed))
    for row, n in enumerate(lengths):
        inputs = out["input_ids"][row][out["attention_mask"][row].bool()].tolist()
        targets = [t for t in out["labels"][row].tolist() if t != -100]
        assert inputs.pop() == EOS and targets.pop() == EOS
        dropped = [t for t in targets if t < FIRST - 100]
        sentinels = [t for t in targets if t > FIRST - 100]
        assert sentinels == list(range(FIRST, FIRST - len(sentinels), -1))  # counting down, one more than spans
        assert len(dropped) == min(max(1, round(n * density)), n - 1)
        assert restored(inputs, targets) == list(range(10, 10 + n))


def test_ordinary_words_are_never_sentinels():
    objective = SpanCorruption(FIRST, EOS, PAD)
    longest = max(n for n in range(1000, 2100) if objective.sentinels(n) <= 100)
    batch = {"input_ids": torch.full((2, longest), 10)}
    labels = objective(batch, torch.Generator().manual_seed(0))["labels"]
    assert labels[labels > 10].min() == FIRST - 99
    with pytest.raises(ValueError, match="rows of 2048 tokens need 103 sentinels; there are only 100"):
        objective({"input_ids": torch.full((2, 2048), 10)})
    with pytest.raises(ValueError, match="need 3 sentinels; there are only 2"):
        SpanCorruption(FIRST, EOS, PAD, n_sentinels=2)({"input_ids": torch.full((2, 40), 10)})
    with pytest.raises(ValueError, match="density=1.5"):
        SpanCorruption(FIRST, EOS, PAD, density=1.5)


def test_the_batch_does_what_the_list_does():
    batch, objective = ragged([30]), SpanCorruption(FIRST, EOS, PAD, 0.3)
    draws = objective.draw(batch, torch.Generator().manual_seed(3))
    free = batch["input_ids"] > 9
    noise = objective.noise(free, **draws)[0].tolist()
    starts = [i for i, on in enumerate(noise) if on and not noise[i - 1]]
    ends = [i for i in range(1, 31) if noise[i - 1] and not noise[i]]
    spans = list(zip(starts, ends, strict=True))
    expected = span_corruption(batch["input_ids"][0].tolist(), spans, [FIRST - i for i in range(len(spans) + 1)])
    out = objective.corrupt(batch, draws)
    assert out["input_ids"][0].tolist() == expected[0]
    assert out["labels"][0].tolist() == [*expected[1], EOS]
    assert len(spans) == 3 and sum(noise) == 9


def test_every_cut_is_equally_likely():
    """4 items into 2 parts: 1+3, 2+2, 3+1."""
    u = torch.rand(30_000, 6, generator=torch.Generator().manual_seed(0))
    parts = random_partition(torch.full((30_000,), 4), torch.full((30_000,), 2), u)
    assert (parts.sum(-1) == 4).all() and (parts[:, 2:] == 0).all()
    shares = torch.bincount(parts[:, 0], minlength=4)[1:4] / 30_000
    torch.testing.assert_close(shares, torch.full((3,), 1 / 3), atol=0.015, rtol=0)


def test_the_five_of_bart_on_lists():
    tokens = list("ABCDE")
    assert delete_tokens(tokens, [True, False, True, True, False]) == list("ACD")
    assert infill(tokens, [(1, 3), (4, 4)], "_") == ["A", "_", "D", "_", "E"]
    assert infill(tokens, [(0, 0), (5, 5)], "_") == ["_", *tokens, "_"]
    assert permute_sentences([["a", "."], ["b", "."], ["c"]], [2, 0, 1]) == [["c"], ["a", "."], ["b", "."]]
    assert rotate(tokens, 2) == list("CDEAB")


@settings(max_examples=60, deadline=None)
@given(lengths, st.integers(0, 2**31), st.floats(0.05, 0.9), st.floats(0.5, 5))
def test_infilling_keeps_the_rest_in_order(lengths, seed, rate, mean):
    batch = ragged(lengths)
    batch["special_tokens_mask"] = (batch["input_ids"] == EOS).long()
    out = Denoising(MASK, PAD, rate=rate, mean_span=mean)(batch, torch.Generator().manual_seed(seed))
    for row, n in enumerate(lengths):
        inputs = out["input_ids"][row][out["attention_mask"][row].bool()].tolist()
        assert inputs[-1] == EOS and inputs.count(EOS) == 1
        kept = [t for t in inputs[:-1] if t != MASK]
        assert kept == sorted(kept) and set(kept) <= set(range(10, 10 + n))  # a subsequence of the text
        assert out["labels"][row][batch["attention_mask"][row].bool()].tolist() == [*range(10, 10 + n), EOS]
        assert n - len(kept) <= -(-n * rate // 1)
        if len(kept) < n:
            assert MASK in inputs
        if mean > 1 and n > 20:  # enough spans were drawn and there was room for them
            assert all(a != MASK or b != MASK for a, b in zip(inputs, inputs[1:], strict=False))


def test_infilling_does_what_the_list_does():
    """Free tokens 10..17; spans of 2, 0 and 1 before the staying tokens 1, 3 and at the end."""
    batch, objective = ragged([8]), Denoising(MASK, PAD)
    ids, mask = batch["input_ids"], batch["attention_mask"].bool()
    gap = torch.zeros(1, 10, dtype=torch.bool)
    gap[0, [1, 3, 5]] = True
    missing = torch.zeros(1, 10, dtype=torch.long)
    missing[0, [1, 5]] = torch.tensor([2, 1])
    start = torch.arange(10) + missing.cumsum(-1) - missing
    found, kept = objective.masked_spans(ids, mask, ids > 9, gap, start, missing)
    expected = infill([*range(10, 18), EOS], [(1, 3), (5, 5), (7, 8)], MASK)
    assert found[0].tolist() == expected and kept.all()


def test_an_empty_span_at_the_very_end_stands_before_the_end_of_the_row():
    batch, objective = ragged([3]), Denoising(MASK, PAD)
    ids = batch["input_ids"]
    gap, nothing = torch.tensor([[False, False, False, True, False]]), torch.zeros(1, 5, dtype=torch.long)
    found, _ = objective.masked_spans(ids, ids > 0, ids > 9, gap, torch.arange(5)[None], nothing)
    assert found.tolist() == [[10, 11, 12, MASK, EOS]]


def test_span_lengths_are_poisson_and_the_rate_is_kept():
    batch = ragged([400] * 50)
    batch["special_tokens_mask"] = (batch["input_ids"] == EOS).long()
    out = Denoising(MASK, PAD)(batch, torch.Generator().manual_seed(0))
    words = ((out["input_ids"] >= 10) & (out["input_ids"] != MASK)).sum(-1)
    assert (words == 400 - 120).all()
    masks = (out["input_ids"] == MASK).sum(-1).float()
    assert 38 < masks.mean() < 42.5  # 120 words in spans of mean 3, the last one cut


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), lengths)
def test_shuffling_permutes_whole_sentences(seed, lengths):
    batch = ragged(lengths)
    ids = batch["input_ids"]
    stops = tuple(range(12, 60, 4))
    free = ids > 9
    objective = Denoising(MASK, PAD, stops)
    u = torch.rand(ids.size(0), ids.size(1) + 1, generator=torch.Generator().manual_seed(seed))
    shuffled = objective.shuffle(ids, free, u)
    assert torch.equal(shuffled[~free], ids[~free])
    for row, n in enumerate(lengths):
        tokens, sentences = shuffled[row, :n].tolist(), [[]]
        for token in range(10, 10 + n):
            sentences[-1].append(token)
            if token in stops:
                sentences.append([])
        sentences = [s for s in sentences if s]
        order = sorted(range(len(sentences)), key=lambda i: tokens.index(sentences[i][0]))
        assert tokens == sum(permute_sentences(sentences, order), [])


def test_gap_sentences():
    sentences = [["a", "b"], ["c"], ["d", "e"]]
    assert gap_sentences(sentences, [2, 0], "_") == (["_", "c", "_"], ["a", "b", "d", "e"])
    assert gap_sentences(sentences, [], "_") == (["a", "b", "c", "d", "e"], [])


def test_gap_sentences_and_masked_words_at_once():
    sentences = [["a", "b"], ["c"], ["d", "e"]]
    inputs, asked, targets = joint_gap_sentences(
        sentences, [1], "1", "2", lambda number, place: (number, place) != (0, 0)
    )
    assert (inputs, targets) == (["a", "2", "1", "2", "2"], ["c"])
    assert asked == [None, "b", None, "d", "e"]
    assert joint_gap_sentences(sentences, [1], "1", "2", lambda *_: False)[::2] == gap_sentences(sentences, [1], "1")


def test_principal_sentences_are_the_ones_most_like_the_rest():
    sentences = [s.split() for s in ("the cat sat on the mat", "stocks fell", "the cat and the mat", "rain")]
    assert principal_sentences(sentences, 2) == [0, 2]
    assert principal_sentences(sentences, 0) == []


@pytest.mark.parametrize("streams", [1, 2, 3])
def test_future_ngram_streams_are_aligned(streams):
    torch.manual_seed(0)
    logits, targets = torch.randn(streams, 2, 4, 6, dtype=torch.float64), torch.tensor([[1, 2, 3, 0], [4, 5, 0, 0]])
    log_p, means = logits.log_softmax(-1), []
    for n in range(streams):
        losses = [-log_p[n, b, t, targets[b, t + n]] for b in range(2) for t in range(4 - n) if targets[b, t + n] != 0]
        means.append(torch.stack(losses).mean())
    torch.testing.assert_close(future_ngram_loss(logits, targets, 0), torch.stack(means).mean())


def test_a_stream_with_nothing_to_predict_is_left_out():
    logits, targets = torch.randn(3, 1, 2, 5), torch.tensor([[3, 0]])
    torch.testing.assert_close(future_ngram_loss(logits, targets, 0), -logits[0].log_softmax(-1)[0, 0, 3])
    assert future_ngram_loss(logits, torch.zeros(1, 2, dtype=torch.long), 0) == 0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_future_ngram_keeps_the_dtype_and_takes_any_padding(dtype):
    logits, targets = torch.randn(2, 2, 3, 5).to(dtype), torch.tensor([[1, 2, 3], [4, -100, -100]])
    loss = future_ngram_loss(logits, targets, -100)  # a padding that is no word
    assert loss.dtype == dtype
    same = future_ngram_loss(logits, targets.masked_fill(targets == -100, 0), 0)
    torch.testing.assert_close(loss, same)
