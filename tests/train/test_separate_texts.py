"""Packed texts that do not attend to one another give the same results as single texts."""

import pytest
import torch

import tfkit
from tfkit.nn.flex import separate_texts
from tfkit.train.__main__ import forward_packed, main, require_separate_texts
from tfkit.train.activation_checkpointing import checkpoint_activations
from tfkit.train.packed_dataset import positions_in_texts, texts_of

END = 2
IDS = torch.tensor([[5, 6, 7, END, 8, 9, END, 10, 11, 12], [5, END, 6, END, 7, 8, 9, 10, 11, 12]])
SIZES = {"vocab_size": 20, "d_model": 16, "n_layers": 2, "n_heads": 2, "d_ff": 32}


def make(name, head="causal_lm", **fields):
    torch.manual_seed(0)
    model = tfkit.from_config(name, head=head, **SIZES, **fields).double().eval()
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def test_a_text_reaches_to_its_end_and_counts_from_zero():
    texts = texts_of(IDS, END)
    assert texts.tolist() == [[0, 0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 2, 2, 2, 2, 2, 2]]
    assert positions_in_texts(texts).tolist() == [[0, 1, 2, 3, 0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize("padding", [False, True])
@pytest.mark.parametrize(("name", "fields"), [("gpt2", {}), ("llama", {}), ("gpt3", {"window": 2}), ("bloom", {})])
@torch.no_grad()
def test_a_row_of_texts_gives_what_each_gives_alone(name, fields, padding):
    model, texts = make(name, **fields), texts_of(IDS, END)
    batch = {"input_ids": IDS, "texts": texts}
    if padding:
        batch["attention_mask"] = torch.tensor([[1] * 10, [1] * 9 + [0]])
    logits = forward_packed(model, batch).logits
    for row in range(2):
        for text in texts[row].unique():
            there = (texts[row] == text) & (batch["attention_mask"][row] == 1 if padding else True)
            torch.testing.assert_close(logits[row, there], model(IDS[row, there][None]).logits[0])


@torch.no_grad()
def test_an_encoder_keeps_texts_apart_in_both_directions():
    model, texts = make("bert", "masked_lm"), texts_of(IDS, END)
    with separate_texts(texts):
        one = model(IDS).logits
        two = model(torch.where(texts == 1, IDS.flip(1), IDS)).logits
    torch.testing.assert_close(one[texts != 1], two[texts != 1])
    assert not torch.allclose(model(IDS).logits[texts != 1], one[texts != 1])


@pytest.mark.parametrize("kind", ["layers", "selective"])
def test_what_is_computed_again_keeps_texts_apart_too(kind):
    plain, again = make("gpt2").train(), checkpoint_activations(make("gpt2"), kind).train()
    for model in (plain, again):
        torch.manual_seed(1)
        forward_packed(model, {"input_ids": IDS, "labels": IDS, "texts": texts_of(IDS, END)}).loss.backward()
    for one, other in zip(plain.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_a_model_that_mixes_texts_is_refused():
    require_separate_texts(make("gpt2"), IDS, "gpt2")
    sizes = {**{name: SIZES[name] for name in ("vocab_size", "d_model", "n_layers")}, "n_heads": 4, "d_head": 8}
    mamba = tfkit.from_config("mamba2", head="causal_lm", **sizes, n_groups=1)
    with pytest.raises(ValueError, match="mamba2 has more than plain attention"):
        require_separate_texts(mamba, IDS, "mamba2")


def test_training_takes_separate_texts(tmp_path, capsys):
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("the cat saw a dog and the dog saw a cat\n" * (4 + number))
    command = ["gpt2", "--text", *(str(file) for file in sorted(tmp_path.glob("*.txt"))), "--vocabulary", "280"]
    command += ["--set", "d_model=16", "n_layers=1", "n_heads=2", "--length", "16", "--batch", "2", "--steps", "2"]
    command += ["--out", str(tmp_path / "out"), "--separate-texts"]
    assert main([*command, "--recompute", "selective"]) == 0
    assert main([*command, "--objective", "denoising"]) == 2
    assert "--objective causal_lm or masked_lm" in capsys.readouterr().err
