"""The English-French pairs as they come out of the installed language pack."""

from __future__ import annotations

import pytest
import torch

from tfkit.data import Recipe, SentencePair, TranslationMemory, english_french, score, translation, translation_task
from tfkit.data.translation import SAME_CLUSTER, clean, clusters, read_catalogues
from tfkit.nn import Seq2SeqTransformer


@pytest.fixture(scope="module")
def corpus():
    return english_french()


def test_there_is_enough_of_it(corpus):
    assert 3000 < len(read_catalogues()) < 5000
    assert 1700 < len(corpus.train) < 3000
    assert 70 < len(corpus.valid) < 200
    assert 150 < len(corpus.test) < 350
    assert 60 < sum(pair.is_dissimilar for pair in corpus.test) < len(corpus.test)
    sources = [pair.source.lower() for part in (corpus.train, corpus.valid, corpus.test) for pair in part]
    assert len(sources) == len(set(sources)), "an English side stands in two places"


def test_it_is_french(corpus):
    words = " ".join(pair.target.lower() for pair in corpus.train).split()
    assert words.count("de") > 500 and words.count("the") < 20


def test_no_near_duplicate_crosses_the_split(corpus):
    for pair in corpus.valid + corpus.test:
        assert pair.max_similarity < SAME_CLUSTER
        assert 2 <= len(pair.source.split()) <= 30


def test_the_split_repeats_with_the_seed(corpus):
    assert english_french() == corpus
    assert english_french(seed=1).test != corpus.test


def test_what_is_not_prose_goes():
    bad = ["Open %1", "see https://x.org", "<b>bold</b> text", "a {0} b", "run foo.bar.baz now", "[null, 'zip']"]
    assert clean([SentencePair(text, "du texte français") for text in bad]) == []
    assert clean([SentencePair("Save all", "un texte beaucoup beaucoup beaucoup trop long pour cela")]) == []
    assert clean([SentencePair("Save  as…", "Enregistrer sous…"), SentencePair("save as", "x y z")]) == [
        SentencePair("Save as", "Enregistrer sous")
    ]


def test_clusters_are_chains_of_near_duplicates():
    texts = ["Save the file", "Save the files", "Saves the files", "Kernel died"]
    groups = clusters(texts)
    assert len({*groups[:3]}) == 1 and groups[3] != groups[0]


def test_the_memory_copies_its_nearest_neighbour():
    memory = TranslationMemory(
        [SentencePair("Open the file", "Ouvrir le fichier"), SentencePair("Close all", "Tout fermer")]
    )
    assert memory(["open a file", "Close it all"]) == ["Ouvrir le fichier", "Tout fermer"]


def test_scores(corpus):
    perfect = score([pair.target for pair in corpus.test], corpus.test)
    assert [perfect.bleu, perfect.dissimilar_chrf] == pytest.approx([100, 100])
    memory = score(TranslationMemory(corpus.train)([p.source for p in corpus.test]), corpus.test)
    assert 2 < memory.bleu < 20 and 20 < memory.chrf < 50
    assert memory.dissimilar_chrf < memory.chrf
    with pytest.raises(ValueError, match="1 translations"):
        score(["un"], corpus.test)


def test_a_missing_package_is_named_with_its_command(monkeypatch):
    monkeypatch.setattr(translation, "PACKAGE", "no_such_language_pack")
    with pytest.raises(ModuleNotFoundError, match="pip install jupyterlab-language-pack-fr-FR"):
        english_french()


def test_a_small_model_learns_the_task_a_little():
    """Twenty-five steps: the loss falls by half a nat, and translating gives one text per sentence."""
    recipe = Recipe(vocab_size=600, d_model=32, n_heads=2, d_ff=64, n_layers=1, warmup=10, peak_rate=5e-3)
    task = translation_task(recipe)
    torch.manual_seed(0)
    model = Seq2SeqTransformer(**task.sizes())
    history = task.train(model, steps=25, progress=False)
    assert history.losses[-1] < history.losses[0] - 0.5
    texts = task.translator(model, max_new_tokens=5)(["Save the file", "Close"])
    assert len(texts) == 2 and all(isinstance(text, str) for text in texts)
