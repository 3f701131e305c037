"""XLNet is the published one, in both streams and with every head: same numbers, gradients, files and sizes."""

import pytest
import torch

import tfkit
from tfkit.models.xlnet import HF_HEADS, XLNet

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 61, "d_model": 24, "n_layer": 2, "n_head": 3, "d_inner": 40}
UNUSUAL = {
    "two streams": ({}, "masked_lm"),
    "two streams, read backwards": ({"bi_data": True, "clamp_len": 3}, "masked_lm"),
    "read backwards": ({"bi_data": True, "n_head": 2}, None),
    "clamped": ({"clamp_len": 4, "ff_activation": "relu", "layer_norm_eps": 1e-6}, None),
    "uni": ({"attn_type": "uni"}, "masked_lm"),
    "uni, same length": ({"attn_type": "uni", "same_length": True}, None),
    "mean": ({"summary_type": "mean", "summary_activation": "gelu", "num_labels": 3}, "sequence_classification"),
    "first": ({"summary_type": "first", "summary_use_proj": False, "num_labels": 1}, "sequence_classification"),
}
CASES = {str(head): ({}, head) for head in XLNet.HEADS} | UNUSUAL


@pytest.fixture(autouse=True)
def precise(monkeypatch):
    """Their waves have the digits of float32 wherever the weights have more."""
    made, real = hf.XLNetModel.relative_positional_encoding, torch.Tensor.float

    def remade(self, *args, **how):
        with monkeypatch.context() as patch:
            patch.setattr(torch.Tensor, "float", torch.Tensor.double if self.dtype == torch.float64 else real)
            return made(self, *args, **how)

    monkeypatch.setattr(hf.XLNetModel, "relative_positional_encoding", remade)


def pair(parity, directory, head, **more):
    """transformers' model with no weight left at zero or one, and tfkit's read from its files."""
    their_class = getattr(hf, next(name for name, its_head in HF_HEADS.items() if its_head == head))
    theirs = parity.shake(their_class(hf.XLNetConfig(**{"use_mems_eval": False} | SIZES | more)))
    return theirs, parity.read(theirs, directory)


def batch(head, rows=4):
    """A ragged batch of two segments, with the labels that the head learns from."""
    draw = torch.Generator().manual_seed(1)
    shape = (rows, 2, 11) if head == "multiple_choice" else (rows, 11)
    lengths = torch.tensor([11, 6, 9, 8])[:rows].view(rows, *[1] * (len(shape) - 1))
    real = (torch.arange(11) < lengths).expand(shape)
    ids = torch.randint(6, 61, shape, generator=draw).masked_fill(~real, 5)
    given = {
        "input_ids": ids,
        "attention_mask": real.long(),
        "token_type_ids": (torch.arange(11) > 4).long() + 2 * ~real,
    }
    words, classes, ends = ids.masked_fill(~real, -100), torch.tensor([1, 0, 1, 1]), torch.tensor([4, 99, 7, 2])
    targets = {
        None: {},
        "masked_lm": {"labels": words},
        "token_classification": {"labels": (words % 2).masked_fill(~real, -100)},
        "question_answering": {"start_positions": classes, "end_positions": ends},
        "beam_question_answering": {"p_mask": (~real).long(), "cls_index": classes},
    }
    return given | targets.get(head, {"labels": classes})


def permuted(rows=4, length=11, targets=3):
    """-> an order per row, as what may not be seen, and its last words as targets"""
    draw = torch.Generator().manual_seed(2)
    order = torch.rand(rows, length, generator=draw).argsort(1)  # when each word comes
    mapping = torch.zeros(rows, targets, length)
    mapping[torch.arange(rows)[:, None], torch.arange(targets), order.argsort(1)[:, -targets:]] = 1
    return {"perm_mask": (order[:, :, None] <= order[:, None]).float(), "target_mapping": mapping}


@pytest.mark.parametrize("case", list(CASES))
def test_numbers_and_gradients(parity, case, tmp_path):
    more, head = CASES[case]
    theirs, ours = pair(parity, tmp_path, head, **more)
    given, unused = batch(head), ("mask_emb",)
    if "uni" in case:
        del given["attention_mask"]  # transformers takes none of a batch then
    if "two" in case:
        given |= {key: t.double() for key, t in permuted().items()} | {"labels": given["labels"][:, :3]}
        del given["attention_mask"]
        unused = ()
    if case == "first":
        given["labels"] = given["labels"].double()
    given = {key: t.contiguous() for key, t in given.items()}
    parity.assert_same_fields_and_gradients("xlnet", theirs, ours, given, unused=unused)


def test_spans_from_the_true_start(parity, tmp_path):
    theirs, ours = pair(parity, tmp_path, "beam_question_answering")
    given = batch("beam_question_answering")
    given |= {"start_positions": torch.tensor([1, 0, 3, 2]), "end_positions": torch.tensor([4, 5, 7, 2])}
    given["is_impossible"] = torch.tensor([0.0, 1.0, 0.0, 1.0]).double()
    parity.assert_same_fields_and_gradients("xlnet", theirs, ours, given, unused=("mask_emb",))


@pytest.mark.parametrize(
    "more", [{}, {"mem_len": 7}, {"mem_len": 14, "reuse_len": 4}, {"attn_type": "uni", "mem_len": 7}], ids=str
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@torch.no_grad()
def test_three_segments(parity, tmp_path, more, dtype):
    """Each reads the memory of the last; the third is read in two streams."""
    theirs, ours = (model.to(dtype) for model in pair(parity, tmp_path, None, use_mems_eval=True, **more))
    mems = our_mems = None
    for i in range(3):
        given = batch(None)
        if "attn_type" in more or i == 2:
            del given["attention_mask"]
        if i == 2:
            given |= {key: t.to(dtype) for key, t in permuted().items() if "attn_type" not in more or key[0] == "t"}
        expected, out = theirs(**given, mems=mems), ours(**given, mems=our_mems)
        mems, our_mems = expected.mems, out.mems
        close = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-9}
        torch.testing.assert_close(out.last_hidden_state, expected.last_hidden_state, **close)
        torch.testing.assert_close(our_mems, mems, **close)


@torch.no_grad()
def test_memory_is_kept_where_it_is_asked_for(parity, tmp_path):
    _, ours = pair(parity, tmp_path, None, use_mems_eval=True)
    ids = batch(None)["input_ids"]
    assert "mems" in ours(ids)
    assert "mems" not in ours(ids, use_mems=False)
    assert "mems" not in ours.train()(ids)


@pytest.mark.parametrize("case", list(CASES))
def test_files_go_both_ways(parity, case, tmp_path):
    more, head = CASES[case]
    theirs, ours = pair(parity, tmp_path / "theirs", head, **more)
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key
    before, after = theirs.config.to_dict(), again.config.to_dict()
    assert {key for key in before if before[key] != after[key]} <= {"_name_or_path", "label2id"}
    assert tfkit.from_pretrained(tmp_path / "ours").config == ours.config


@torch.no_grad()
def test_greedy_ids(parity, tmp_path):
    theirs, _ = pair(parity, tmp_path, "masked_lm")
    for name, weight in theirs.named_parameters():
        weight.data *= 5 if "rel_attn" in name and "norm" not in name else 1  # or it says one word for ever
    ours = parity.read(theirs, tmp_path / "sharp")
    ids = found = batch(None)["input_ids"][:, :5]
    expected = theirs.generate(ids, max_new_tokens=9, do_sample=False, eos_token_id=None, use_mems=False)
    for _ in range(9):
        found = torch.cat([found, ours.next_token_logits(found).argmax(-1, keepdim=True)], 1)
    assert torch.equal(found, expected)
    assert found[:, 5:].unique().numel() > 3


@torch.no_grad()
def test_an_order_hides_the_words_that_come_later(parity, tmp_path):
    """A target depends on the words before it in the order, and neither on later ones nor on its own."""
    _, ours = pair(parity, tmp_path, "masked_lm")
    ids, order = batch(None)["input_ids"], permuted()
    scores = ours(ids, **order).logits
    for place in range(11):
        other = ids.clone()
        other[:, place] = (ids[:, place] + 1) % 61
        moved = (ours(other, **order).logits - scores).abs().amax(-1) > 1e-5
        targets = order["target_mapping"].argmax(-1)
        seen = order["perm_mask"][torch.arange(4)[:, None], targets, place] == 0
        assert torch.equal(moved, seen)


@torch.no_grad()
def test_a_target_that_sees_nothing_knows_nothing(parity, tmp_path):
    """Where transformers would average over all words, its own too."""
    _, ours = pair(parity, tmp_path, "masked_lm")
    ids, order = batch(None)["input_ids"], permuted(targets=11)
    first = (order["perm_mask"].sum(-1) == 11).nonzero()
    assert len(first) == 4
    at = order["target_mapping"].argmax(-1) == first[:, 1:]
    scores, others = ours(ids, **order).logits, ours(ids.roll(1, 1), **order).logits
    torch.testing.assert_close(scores[at], others[at])
    assert not torch.allclose(scores[~at], others[~at])


def test_gradients_are_finite_where_nothing_is_seen(parity, tmp_path):
    _, ours = pair(parity, tmp_path, "masked_lm")
    given = batch("masked_lm")
    ours(given["input_ids"], **permuted(targets=11), labels=given["labels"]).loss.backward()
    assert all(p.grad.isfinite().all() for p in ours.parameters() if p.grad is not None)


@pytest.mark.parametrize("more", [{}, {"bi_data": True}], ids=str)
def test_blocks_of_queries_change_nothing(parity, tmp_path, more, monkeypatch):
    """Cut into blocks or not, with a memory, segments, padding and an order: the same numbers and gradients."""
    _, ours = pair(parity, tmp_path, "masked_lm", use_mems_eval=True, **more)
    ours, ids, found = ours.double(), torch.randint(6, 61, (4, 12)), []
    given = {"attention_mask": torch.arange(12) < torch.tensor([[12], [9], [11], [10]]), "token_type_ids": ids % 2}
    given |= permuted(length=12) | {"mems": ours(ids[:, :5]).mems}
    for block in (256, 4, 3):
        monkeypatch.setattr("tfkit.nn.relative_attention.BLOCK", block)
        ours.zero_grad()
        out = ours(ids, **given, labels=ids[:, :3])
        out.loss.backward()
        found.append([out.logits, *(p.grad for p in ours.parameters())])
    torch.testing.assert_close(found[1], found[0])
    torch.testing.assert_close(found[2], found[0])


@torch.no_grad()
def test_padding_and_segments_elsewhere_change_nothing(parity, tmp_path):
    _, ours = pair(parity, tmp_path, "masked_lm")
    given = batch(None)
    together = ours(**given).logits
    alone = ours(given["input_ids"][1:2, :6], token_type_ids=given["token_type_ids"][1:2, :6]).logits
    torch.testing.assert_close(together[1:2, :6], alone, rtol=1e-4, atol=1e-5)
    renamed = ours(**given | {"token_type_ids": 7 - given["token_type_ids"]}).logits
    torch.testing.assert_close(renamed, together)  # only whether they are the same counts


@torch.no_grad()
def test_bfloat16_is_finite(parity, tmp_path):
    _, ours = pair(parity, tmp_path, "masked_lm")
    ours, given = ours.to(torch.bfloat16), batch("masked_lm")
    out = ours(**given, use_mems=True)
    assert out.logits.isfinite().all()
    assert out.loss.isfinite()
    assert ours(given["input_ids"], **permuted(), mems=out.mems).logits.isfinite().all()


def test_what_does_not_fit():
    ours = tfkit.from_config("xlnet", vocab_size=61, d_model=24, n_layers=2, n_heads=3, d_ff=40, bi_data=True)
    ids = torch.arange(12).view(2, 6)
    wrong = [
        ({"input_ids": ids + 50}, "input_ids holds 61, outside its table: ids go from 0 to 60"),
        ({"input_ids": ids[:1]}, "input_ids has 1 rows: bi_data reads half of them backwards"),
        (
            {"token_type_ids": ids[:, 1:]},
            r"token_type_ids has shape \[2, 5\], beside these input_ids it must be \[2, 6\]",
        ),
        ({"perm_mask": torch.ones(2, 6, 5)}, r"perm_mask has shape \[2, 6, 5\], .* \[2, 6, 6\]"),
        ({"target_mapping": torch.ones(2, 3, 5)}, r"target_mapping has shape \[2, 3, 5\], .* \[2, 3, 6\]"),
        ({"mems": [torch.zeros(4, 1, 24)] * 2}, r"mems must be 2 tensors \[M,2,24\]; got \[4, 1, 24\]"),
        ({"labels": ids}, "labels were passed to a model without a head"),
    ]
    for given, message in wrong:
        with pytest.raises(ValueError, match=message):
            ours(**{"input_ids": ids} | given)
    with pytest.raises(TypeError, match="attention_mask is torch.float32"):
        ours(ids, torch.ones(2, 6))
    with pytest.raises(ValueError, match="attn_type 'both' must be 'bi' or 'uni'"):
        tfkit.from_config("xlnet", attn_type="both")
    with pytest.raises(ValueError, match="summary_type 'attn' is not one of first, last, mean"):
        tfkit.from_config("xlnet", "sequence_classification", summary_type="attn", d_model=8, n_heads=1, n_layers=1)


@torch.no_grad()
def test_input_mask_is_the_other_way_round(parity, tmp_path):
    theirs, ours = pair(parity, tmp_path, None)
    given = batch(None)
    padding = 1 - given.pop("attention_mask")
    expected = theirs(**given, input_mask=padding.float()).last_hidden_state
    torch.testing.assert_close(ours(**given, input_mask=padding).last_hidden_state, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="is the inverse of attention_mask"):
        ours(**given, input_mask=padding, attention_mask=1 - padding)
    with pytest.raises(TypeError, match="input_mask is a list"):
        ours(**given, input_mask=padding.tolist())
