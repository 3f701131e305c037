"""XLM-ProphetNet is the published one: what an old transformers gave is in fixtures, with the script that asked it."""

import dataclasses
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import tfkit
from tfkit.models import prophetnet, xlm_prophetnet

FIXTURES = Path(__file__).parent / "fixtures" / "xlm_prophetnet"
CASES = sorted(path.name for path in FIXTURES.iterdir())


def under(tensors, stem):
    return {name.removeprefix(stem): tensor for name, tensor in tensors.items() if name.startswith(stem)}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_numbers_and_gradients(case, dtype):
    expected, model = load_file(FIXTURES / case / "expected.safetensors"), tfkit.from_pretrained(FIXTURES / case)
    out = model.to(dtype)(**under(expected, "in."))
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
    for name, tensor in under(expected, "out.").items():
        torch.testing.assert_close(out[name], tensor.to(dtype), **close, msg=lambda text, n=name: f"{n}: {text}")
    value(out, under(expected, "out.")).backward()
    assert all(p.grad is not None for p in model.parameters())
    grads = model.names.dump({n: p.grad for n, p in model.named_parameters()}, with_head=model.head is not None)
    for name, tensor in under(expected, "gradient.").items():
        atol = 10 * close["atol"] * max(1.0, tensor.abs().max().item())
        torch.testing.assert_close(grads.pop(name), tensor.to(dtype), rtol=10 * close["rtol"], atol=atol, msg=name)
    assert not grads


def value(out, names):
    if "loss" in names:
        return out.loss
    found = [out[name] for name in names]
    return sum((x * torch.arange(x.numel(), dtype=x.dtype).view_as(x).cos()).sum() for x in found)


@pytest.mark.parametrize("case", CASES)
def test_what_we_write_has_their_names(case, tmp_path):
    """Each tensor that transformers' models have, or one that they share; a decoder's words are below the decoder."""
    tfkit.from_pretrained(FIXTURES / case).save_pretrained(tmp_path)
    written = load_file(tmp_path / "model.safetensors")
    theirs = torch.load(FIXTURES / case / "pytorch_model.bin", weights_only=True)
    for name, tensor in written.items():
        assert torch.equal(theirs.pop(name), tensor), name
    assert all("word_embeddings" in name or name == "lm_head.weight" for name in theirs)
    assert ("prophetnet.decoder.word_embeddings.weight" in written) == (case == "decoder")
    assert tfkit.from_pretrained(tmp_path).config == tfkit.from_pretrained(FIXTURES / case).config


def test_greedy_gives_their_ids():
    """They decode word by word, where nothing is mispaired."""
    expected, model = (
        load_file(FIXTURES / "seq2seq" / "expected.safetensors"),
        tfkit.from_pretrained(FIXTURES / "seq2seq"),
    )
    source = {"input_ids": expected["in.input_ids"], "attention_mask": expected["in.attention_mask"]}
    found = tfkit.generate(model, **source, end_id=-1, max_new_tokens=12)
    assert torch.equal(found, expected["greedy"])
    assert found.unique().numel() > 3


def test_its_vocabulary():
    """As its tokenizer counts: 15 marks, then the pieces but for the first three."""
    words = xlm_prophetnet.vocabulary(["<unk>", "<s>", "</s>", ",", ".", "▁"])
    assert [words[i] for i in (0, 1, 2, 3, 4, 5, 14, 15, 17)] == [
        "[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", "[unused0]", "[unused9]", ",", "▁",
    ]  # fmt: skip
    assert len(xlm_prophetnet.vocabulary(["<unk>", "<s>", "</s>"] * 1 + ["x"] * 249_997)) == 250_012
    with pytest.raises(ValueError, match="pieces begin with"):
        xlm_prophetnet.vocabulary(["<pad>", "<s>", "</s>"])


def test_a_sentence_ends_and_writing_begins_with_the_same_mark():
    config = xlm_prophetnet.Config()
    assert xlm_prophetnet.sentence([20, 21], [22]) == [20, 21, 2, 22, 2]
    assert {config.bos_token_id, config.eos_token_id, config.decoder_start_token_id} == {xlm_prophetnet.SEP}
    assert config.pad_token_id == xlm_prophetnet.MARKS.index("[PAD]")


def test_what_it_changes_is_the_words():
    """Beyond the words, and the marks among them, all settings are ProphetNet's."""
    ours, parent = (dataclasses.asdict(module.Config()) for module in (xlm_prophetnet, prophetnet))
    changed = {name for name in ours if ours[name] != parent[name]}
    assert changed == {"vocab_size", "bos_token_id", "eos_token_id", "decoder_start_token_id"}
