"""Translation language modelling aligns two languages: masked words beside a translation of their sentence.

English and French interface strings share one vocabulary. Two small XLMs are trained for the same number of steps on
the same number of sentences: one on masked words in one language at a time; the other half of the time in this way, and
half of the time on masked words in a sentence and its translation side by side, with positions that restart. Measured:
for held-out pairs, how often the French sentence whose mean hidden state is nearest (cosine) to that of an English one
is its translation, and vice versa; and the same by shared words alone, which names and loanwords give away.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from tfkit.data import SentencePair, english_french
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.text.collate import parallel_texts
from tfkit.text.vocabulary import Tokenizer
from tfkit.text.vocabulary import train as learn_vocabulary

CLAIM = Claim(
    title="Masked words in a sentence beside its translation align two languages better than masked words in each",
    paper="Lample and Conneau 2019, arXiv:1901.07291, sections 3.3 and 5.1; aligned states as in Conneau et al. 2020",
    alt="Share of held-out sentences whose translation is nearest, one dot per seed, after training beside "
    "translations, after training on each language alone, without training, and by shared words",
    remark="Tried: learning rates of 2e-3 and 6e-3 (shown here), 300 steps of 32 sentences, width 48. In either way "
    "XLM learns which symbols are frequent and little more, and finds fewer translations than before training, when "
    "shared symbols gave some of them away. `--full` was not run.",
)


@dataclass(frozen=True)
class Size:
    steps: int
    n_test: int = 200  # held-out pairs
    width: int = 48
    vocab_size: int = 1000
    batch: int = 32


SCALES = {
    "tiny": Size(steps=2, n_test=16, width=16, vocab_size=500, batch=4),
    "small": Size(steps=300),
    "full": Size(steps=10000, width=256, vocab_size=2000),
}


def monolingual_batches(tokenizer: Tokenizer, texts: Sequence[str], lang: int) -> dict[str, torch.Tensor]:
    """XLM's inputs for sentences of one language."""
    batch = tokenizer.batch(texts, length=16, return_special_tokens_mask=True)
    return {**batch, "langs": torch.full_like(batch["input_ids"], lang)}


@dataclass
class Sentences:
    """Batches of masked words: of one language or, in every second batch if `beside`, of pairs side by side."""

    pairs: Sequence[SentencePair]
    tokenizer: Tokenizer
    size: int
    beside: bool

    def __call__(self, generator: torch.Generator) -> Iterator[dict[str, torch.Tensor]]:
        masked = MaskedLM(self.tokenizer.mask_id or 4, len(self.tokenizer))
        order = torch.randperm(len(self.pairs), generator=generator)
        for number, index in enumerate(order.split(self.size)):
            batch = masked(self.batch([self.pairs[i] for i in index.tolist()], number), generator)
            yield {name: value for name, value in batch.items() if name != "special_tokens_mask"}

    def batch(self, pairs: Sequence[SentencePair], number: int) -> dict[str, torch.Tensor]:
        """Side by side if `beside` and `number` is odd; otherwise in one language, English and French in turn."""
        english, french = [pair.source for pair in pairs], [pair.target for pair in pairs]
        if self.beside and number % 2:
            half = len(pairs) // 2 or 1  # so that the number of words is the same as with one language
            return parallel_texts(self.tokenizer, english[:half], french[:half], 0, 1)
        lang = number // 2 % 2 if self.beside else number % 2
        return monolingual_batches(self.tokenizer, (english, french)[lang], lang)


@torch.no_grad()
def vectors(model, tokenizer: Tokenizer, texts: Sequence[str], lang: int) -> torch.Tensor:
    """The mean state of each text minus the mean of its language, normalised to length 1: [N,E]"""
    batch = monolingual_batches(tokenizer, texts, lang)
    non_padding = (1 - batch.pop("special_tokens_mask"))[..., None]
    states = model.eval()(**batch).last_hidden_state * non_padding
    means = states.sum(1) / non_padding.sum(1).clamp(min=1)
    return F.normalize(means - means.mean(0), dim=-1)


def retrieval_accuracy(english: torch.Tensor, french: torch.Tensor) -> float:
    """How often the nearest text is the translation, in both directions."""
    scores, own = english @ french.T, torch.arange(len(english))
    there, back = (scores.argmax(1) == own).float().mean(), (scores.argmax(0) == own).float().mean()
    return ((there + back) / 2).item()


def shared_words(tokenizer: Tokenizer, texts: Sequence[str]) -> torch.Tensor:
    """Bags of tokens [N,V]: the alignment that exists without learning."""
    ids = tokenizer.batch(texts)["input_ids"]
    bags = torch.zeros(len(ids), len(tokenizer)).scatter_add_(1, ids, (ids > 4).float())
    return F.normalize(bags, dim=-1)


def run(seed: int, size: Size) -> Numbers:
    """Shares of held-out sentences whose translation is found."""
    corpus = english_french(seed)
    texts = [text for pair in corpus.train for text in (pair.source, pair.target)]
    tokenizer = learn_vocabulary("bpe", texts, size.vocab_size)
    test_pairs = corpus.test[: size.n_test]
    english, french = [pair.source for pair in test_pairs], [pair.target for pair in test_pairs]
    shares = {"shared": retrieval_accuracy(shared_words(tokenizer, english), shared_words(tokenizer, french))}
    shape = dict(d_model=size.width, n_layers=2, n_heads=4, max_length=64, n_langs=2, vocab_size=len(tokenizer))
    special = dict(bos_token_id=1, eos_token_id=2, pad_token_id=0)
    for arm in ("alone", "beside"):
        torch.manual_seed(seed)
        model = tfkit.from_config("xlm", "masked_lm", dropout=0.0, attn_dropout=0.0, **shape, **special)
        shares[f"{arm}, untrained"] = retrieval_accuracy(
            vectors(model, tokenizer, english, 0), vectors(model, tokenizer, french, 1)
        )
        train(model, Sentences(corpus.train, tokenizer, size.batch, arm == "beside"), size.steps, 6e-3, seed)
        shares[arm] = retrieval_accuracy(vectors(model, tokenizer, english, 0), vectors(model, tokenizer, french, 1))
    return shares


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Translations found beside them, against each language alone and against untrained weights."""
    over = lambda other: [run["beside"] - run[other] for run in runs]
    return [
        Measurement(
            "share of translations found, trained beside them minus each language alone", over("alone"), at_least=0.05
        ),
        Measurement("the same, trained beside them minus untrained", over("beside, untrained"), at_least=0.05),
    ]


def draw(runs: Sequence[Numbers]):
    """A row for each training method and one for shared words, one dot per seed."""
    fig, (axis,) = figure()
    names = {"beside": "beside translations", "alone": "each language alone", "alone, untrained": "untrained"}
    dots(axis, runs, {**names, "shared": "shared words"}, "share of translations found")
    return fig
