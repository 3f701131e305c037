"""The task heads of the GPT family are the published ones: same numbers, losses, gradients and files."""

import pytest
import torch

import tfkit
from tfkit import registry

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 40, "pad_token_id": 0}
SIZES |= {"id2label": {0: "a", 1: "b", 2: "c"}, "bos_token_id": 1, "eos_token_id": 2}
NEO = {"vocab_size": 99, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "max_position_embeddings": 40}
NEO |= {"attention_types": [[["global", "local"], 1]], "window_size": 8}  # no query sees padding alone
NEO |= {key: SIZES[key] for key in ("pad_token_id", "id2label", "bos_token_id", "eos_token_id")}
CONFIGS = {
    "gpt": ("OpenAIGPTConfig", SIZES),
    "gpt2": ("GPT2Config", SIZES),
    "gpt_neo": ("GPTNeoConfig", NEO),
    "gptj": ("GPTJConfig", {**SIZES, "rotary_dim": 4}),
    "ctrl": ("CTRLConfig", {**SIZES, "dff": 48}),
}
CASES = [
    (kind, name, head)
    for kind in CONFIGS
    for name, head in registry.load(kind).HF_HEADS.items()
    if head not in (None, "causal_lm")
]


def make(kind, name, head, **more):
    config, sizes = CONFIGS[kind]
    sizes = {**sizes, **more}
    if head == "question_answering":  # a start and an end
        del sizes["id2label"]
    if head == "double_heads":
        sizes |= {"summary_activation": "tanh"}
    torch.manual_seed(0)
    return getattr(hf, name)(getattr(hf, config)(**sizes))


def batch(parity, head):
    """A ragged batch, with the labels that the head learns from."""
    ids, mask, labels = parity.ragged()
    ids = ids.masked_fill(mask == 0, 0)
    if head == "double_heads":
        ids, mask, labels = (torch.stack([x, x.roll(1, 0)], 1) for x in (ids, mask, labels))
        targets = {"labels": labels, "mc_labels": torch.tensor([0, 1, 1]), "mc_token_ids": mask.sum(-1) - 1}
    elif head == "question_answering":
        targets = {"start_positions": torch.tensor([1, 0, 2]), "end_positions": torch.tensor([4, 99, 3])}
    elif head == "token_classification":
        targets = {"labels": (labels % 3).masked_fill(mask == 0, -100)}
    else:
        targets = {"labels": torch.tensor([2, 0, 1])}
    return {"input_ids": ids, "attention_mask": mask, **targets}


def exact(kind, parity, theirs, ours, monkeypatch):
    """Their upcasts and their tables have the digits of float32: give them float64's."""
    if kind in ("gpt_neo", "gptj"):
        monkeypatch.setattr(f"transformers.models.{kind}.modeling_{kind}.torch", parity.Double())
    if kind in ("gptj", "ctrl"):
        dim = 4 if kind == "gptj" else 32
        angle = torch.arange(40.0).double()[:, None] * 10000 ** (-torch.arange(0, dim, 2).double() / dim)
        table = torch.cat([angle.sin(), angle.cos()], dim=-1)
        if kind == "ctrl":
            theirs.transformer.pos_encoding = ours.sinusoids = table
        for module in theirs.modules() if kind == "gptj" else ():
            if hasattr(module, "embed_positions"):  # each layer's attention; since transformers 5.24, one for all
                module.embed_positions = table


@pytest.mark.parametrize(("kind", "name", "head"), CASES)
def test_numbers_gradients_and_files(parity, kind, name, head, tmp_path, monkeypatch):
    theirs = parity.shake(make(kind, name, head))
    ours = parity.read(theirs, tmp_path / "theirs").double()
    assert ours.head == head
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key].float(), tensor), key
    exact(kind, parity, theirs, ours, monkeypatch)
    given = batch(parity, head)
    if (kind, head) == ("gpt", "double_heads"):
        del given["attention_mask"]  # which transformers' cannot take; at the right end it changes nothing
    parity.assert_same_fields_and_gradients(kind, theirs, ours, given, without={"past_key_values", "cache"})


def test_the_choice_is_read_at_the_end_unless_said(parity):
    model = tfkit.from_config("gpt2", head="double_heads", vocab_size=99, d_model=32, n_layers=1, n_heads=4).eval()
    ids = torch.stack([parity.ragged()[0]] * 2, 1)
    end = torch.full(ids.shape[:2], ids.size(-1) - 1)
    torch.testing.assert_close(model(ids).mc_logits, model(ids, mc_token_ids=end).mc_logits)
    with pytest.raises(ValueError, match=r"multiple choice; got \[3, 11\]: the C choices of each of B examples"):
        model(ids[:, 0])


@pytest.mark.parametrize("labels", [torch.tensor([0.5, -1.0, 2.0]), torch.tensor([1.0, 0.0, 2.0])], ids=str)
def test_a_number_for_the_whole_text(parity, labels, tmp_path):
    theirs = make("gpt2", "GPT2ForSequenceClassification", "sequence_classification", id2label={0: "a"})
    ours = parity.read(parity.shake(theirs), tmp_path)
    given = {**batch(parity, None), "labels": labels}
    torch.testing.assert_close(ours(**given).loss, theirs(**given).loss)


def test_the_mask_says_where_the_text_ends(parity):
    """Without a pad_token_id too, where transformers refuses a batch; and on either side."""
    model = tfkit.from_config(
        "gpt2", head="sequence_classification", vocab_size=99, d_model=32, n_layers=1, n_heads=4
    ).eval()
    ids, mask, _ = parity.ragged()
    for row in range(3):
        alone = model(ids[row : row + 1, : int(mask[row].sum())]).logits
        torch.testing.assert_close(model(ids, mask).logits[row : row + 1], alone)
    with pytest.raises(TypeError, match="start_positions: not a target of head 'sequence_classification'"):
        model(ids, start_positions=ids[:, 0])
