"""English to French, ready to train on: tokenizer, batches, loss and scores in one object.

task = translation_task()
model = initialise(Seq2SeqTransformer(**task.sizes()))
task.train(model)
print(task.evaluate(task.translator(model)), task.baseline())
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tfkit.data.translation import Corpus, SentencePair, TranslationMemory, TranslationScores, english_french, score
from tfkit.decode.greedy import greedy_decode
from tfkit.text.tokenizer import BPETokenizer
from tfkit.text.vocabulary import pad
from tfkit.train import History, PairBatches, Seq2SeqLoss, fit, linear_rate


@dataclass(frozen=True)
class Recipe:
    """Sizes and schedule for a few minutes on two CPU cores (docs/decisions/course.md says how they were chosen)."""

    vocab_size: int = 2000
    d_model: int = 192
    n_heads: int = 4
    d_ff: int = 768
    n_layers: int = 2
    steps: int = 600
    batch_tokens: int = 1500
    peak_rate: float = 1.5e-3
    warmup: int = 200
    smoothing: float = 0.1
    word_dropout: float = 0.1


class TranslationTask:
    """A corpus with its shared tokenizer; `model` below is anything with `encode`, `decode`, `forward(src, tgt_in)`."""

    def __init__(self, corpus: Corpus, tokenizer: BPETokenizer, recipe: Recipe) -> None:
        self.corpus, self.tokenizer, self.recipe = corpus, tokenizer, recipe
        self.loss = Seq2SeqLoss(
            tokenizer.start_id, tokenizer.pad_id, recipe.smoothing, recipe.word_dropout, tokenizer.unk_id
        )
        self.train_batches = self.batches(corpus.train)

    def sizes(self) -> dict[str, int]:
        """The arguments of the recipe's `Seq2SeqTransformer`."""
        r, vocab = self.recipe, len(self.tokenizer)
        return dict(
            src_vocab=vocab,
            tgt_vocab=vocab,
            d_model=r.d_model,
            n_heads=r.n_heads,
            d_ff=r.d_ff,
            n_layers=r.n_layers,
            pad_id=self.tokenizer.pad_id,
        )

    def batches(self, pairs: Sequence[SentencePair]) -> PairBatches:
        """Padded batches of ids, each sentence with its `</s>`."""
        source = self.encode([pair.source for pair in pairs])
        target = self.encode([pair.target for pair in pairs])
        return PairBatches(list(zip(source, target, strict=True)), self.recipe.batch_tokens, self.tokenizer.pad_id)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Ids of each sentence, followed by `</s>`."""
        return [[*ids, self.tokenizer.end_id] for ids in self.tokenizer.encode(sentences)]

    def train(self, model: nn.Module, steps: int | None = None, checkpoint: str | Path | None = None, **how) -> History:
        """`fit` with the recipe's schedule; `how` goes to `fit`."""
        r = self.recipe
        steps = steps or r.steps
        rate = lambda step: linear_rate(step, r.peak_rate, min(r.warmup, steps // 2), steps + 1)
        return fit(model, self.train_batches, self.loss, steps=steps, rate=rate, checkpoint=checkpoint, **how)

    def translator(self, model: nn.Module, max_new_tokens: int = 60) -> Callable[[Sequence[str]], list[str]]:
        """A function from English sentences to French ones: greedy, in batches of similar length."""

        def translate(sentences: Sequence[str]) -> list[str]:
            encoded = self.encode(sentences)
            order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
            french = [""] * len(encoded)
            for start in range(0, len(order), 64):
                chunk = order[start : start + 64]
                for i, text in zip(
                    chunk, self._greedy(model, [encoded[i] for i in chunk], max_new_tokens), strict=True
                ):
                    french[i] = text
            return french

        return translate

    @torch.no_grad()
    def _greedy(self, model: Any, rows: Sequence[Sequence[int]], max_new_tokens: int) -> list[str]:
        was_training = model.training
        model.eval()
        src = pad(rows, self.tokenizer.pad_id).to(next(model.parameters()).device)
        memory = model.encode(src)
        step = lambda prefix: model.decode(prefix, memory, src)[:, -1]
        start = torch.full_like(src[:, 0], self.tokenizer.start_id)
        ids = greedy_decode(step, start, self.tokenizer.end_id, max_new_tokens, self.tokenizer.pad_id)
        model.train(was_training)
        return self.tokenizer.decode(ids[:, 1:].tolist())

    def evaluate(
        self, translate: Callable[[Sequence[str]], list[str]], pairs: Sequence[SentencePair] | None = None
    ) -> TranslationScores:
        """BLEU and chrF of `translate` on the held-out test pairs, or on others."""
        pairs = self.corpus.test if pairs is None else pairs
        return score(translate([pair.source for pair in pairs]), pairs)

    def baseline(self) -> TranslationScores:
        """The translation memory's scores on the test pairs."""
        return self.evaluate(TranslationMemory(self.corpus.train))


def translation_task(recipe: Recipe | None = None, seed: int = 0, corpus: Corpus | None = None) -> TranslationTask:
    """A corpus (the small one, unless another is given) to train on; a seed gives the same split and tokenizer."""
    recipe = recipe or Recipe()
    corpus = english_french(seed) if corpus is None else corpus
    texts = [text for pair in corpus.train for text in (pair.source, pair.target)]
    return TranslationTask(corpus, BPETokenizer.train(texts, recipe.vocab_size), recipe)
