"""An encoder-decoder that was pretrained on corrupted text learns a task from few examples better than one from
scratch.

Three models, each with its own objective on plain text (the language reference, and docstrings without their first
lines): T5 predicts the masked spans, BART the whole text from one with masked spans and shuffled sentences, and Pegasus
the sentences that were removed. The task is to write the first line of a docstring from its body. Measured: nats per
token of the held-out first lines, after the same number of steps on a few hundred examples, from random and from
pretrained weights.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from research.claims._english import Docstring, batches, docstrings, documents, split_documents, vocabulary
from tfkit.objectives.denoising import Denoising
from tfkit.objectives.gap_sentences import gap_sentences, principal_sentences
from tfkit.objectives.span_corruption import SpanCorruption
from tfkit.text.vocabulary import pack_documents, pad
from tfkit.train import mean_loss

CLAIM = Claim(
    title="Span corruption, denoising and gap sentences each prepare a model for a task with few examples",
    paper="Raffel et al. 2020, arXiv:1910.10683; Lewis et al. 2020, arXiv:1910.13461; Zhang et al. 2020, "
    "arXiv:1912.08777",
    alt="Held-out nats per token of the task, one dot per seed: for T5, BART and Pegasus lower after pretraining than "
    "from random weights",
)
SENTINELS = 24
RATES = {"t5": 3e-3, "bart": 6e-3, "pegasus": 6e-3}  # embeddings as small as BART's need larger steps
Pair = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Size:
    steps: int
    task_steps: int
    examples: int = 300
    n_test: int = 150
    width: int = 48
    vocab_size: int = 400
    length: int = 24
    batch: int = 16


SCALES = {
    "tiny": Size(steps=2, task_steps=2, examples=20, n_test=8, width=16, length=16, batch=4),
    "small": Size(steps=150, task_steps=60),
    "full": Size(steps=20000, task_steps=1000, examples=1000, width=256, vocab_size=4000, length=64, batch=32),
}


def make_model(name: str, size: Size):
    """T5 has d_kv, the others learned positions; all vocabularies include the sentinels, used or not."""
    shape = dict(d_model=size.width, n_layers=2, n_decoder_layers=1, n_heads=4, d_ff=4 * size.width, dropout=0.0)
    shape |= dict(d_kv=size.width // 4) if name == "t5" else dict(
        n_decoder_heads=4, d_decoder_ff=4 * size.width, max_length=4 * size.length, bos_token_id=1)  # fmt: skip
    special = dict(pad_token_id=0, eos_token_id=2, decoder_start_token_id=0)
    return tfkit.from_config(name, "seq2seq_lm", vocab_size=size.vocab_size + SENTINELS, **shape, **special)


def plain(held: Sequence[Docstring]) -> list[str]:
    """All text without the first lines of docstrings, and without the held-out docstrings."""
    hidden = {f"{d.summary} {d.body}": d for d in docstrings()}
    bodies = {d.body for d in held}
    texts = [hidden[text].body if text in hidden else text for text in documents()]
    return [text for text in texts if text not in bodies]


def pair_batches(pairs: Sequence[Pair], size: int) -> Callable[[torch.Generator], Iterator[dict[str, Tensor]]]:
    """One pass over sources and targets in a new order."""

    def one_pass(generator):
        """input_ids and attention_mask [B,S], labels [B,T] with -100 behind; the last batch may be smaller."""
        for index in torch.randperm(len(pairs), generator=generator).split(size):
            read, written = zip(*(pairs[i] for i in index.tolist()), strict=True)
            mask = pad([[1] * len(row) for row in read], 0)
            yield {"input_ids": pad(read, 0), "attention_mask": mask, "labels": pad(written, -100)}

    return one_pass


def gap_sentence_pairs(texts: Sequence[str], size: Size) -> list[Pair]:
    """From texts of at least three sentences, with a third of the sentences left out."""
    encode, pairs = lambda sentences: vocabulary(size.vocab_size).encode(sentences, specials=False), []
    for text in texts:
        sentences = encode(re.split(r"(?<=[.:]) ", text))
        if len(sentences) >= 3:
            chosen = principal_sentences(sentences, len(sentences) // 3)
            read, written = gap_sentences(sentences, chosen, 4)
            pairs.append((read[: 2 * size.length], [*written[: size.length], 2]))
    return pairs


def lessons(name: str, texts: Sequence[str], size: Size):
    """Batches of a model's objective."""
    if name == "pegasus":
        return pair_batches(gap_sentence_pairs(texts, size), size.batch)
    tokenizer = vocabulary(size.vocab_size)
    rows = pack_documents(tokenizer.encode(texts, specials=False), size.length, 2)
    stops = tuple(i for i in (tokenizer.inner.token_to_id("."),) if i is not None)
    last = size.vocab_size + SENTINELS - 1
    objective = (
        SpanCorruption(last, eos_id=2, n_sentinels=SENTINELS)
        if name == "t5"
        else Denoising(4, pad_id=0, stop_ids=stops)
    )
    return batches(rows, objective, size.batch)


def task(docstrings: Sequence[Docstring], size: Size) -> list[Pair]:
    """Bodies as sources and first lines as targets, in ids, both cut to size.length; targets end in 2."""
    encode = vocabulary(size.vocab_size).encode
    bodies = encode([d.body for d in docstrings], specials=False)
    summaries = encode([d.summary for d in docstrings], specials=False)
    pairs = zip(bodies, summaries, strict=True)
    return [(body[: size.length], [*summary[: size.length], 2]) for body, summary in pairs]


def run(seed: int, size: Size) -> Numbers:
    """Held-out nats per token after the task, from random weights and after each objective."""
    others, held = split_documents(docstrings(), seed=seed)
    held, few = held[: size.n_test], others[: size.examples]
    texts, found = plain(held), {}
    learned, test_batches = (pair_batches(task(part, size), size.batch) for part in (few, held))
    own_loss = lambda model, batch: model(**batch).loss
    for name in ("t5", "bart", "pegasus"):
        for start in ("fresh", "pretrained"):
            torch.manual_seed(seed)
            model: nn.Module = make_model(name, size)
            if start == "pretrained":
                train(model, lessons(name, texts, size), size.steps, RATES[name], seed)
            train(model, learned, size.task_steps, RATES[name] / 2, seed)
            found[f"{name}, {start}"] = mean_loss(model, test_batches, own_loss)
    return found


NAMES = {"t5": "T5, span corruption", "bart": "BART, denoising", "pegasus": "Pegasus, gap sentences"}


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """A measurement for each model: the nats per token that pretraining saves."""
    saved = lambda name: [run[f"{name}, fresh"] - run[f"{name}, pretrained"] for run in runs]
    return [Measurement(f"{what}: nats per token saved", saved(name), at_least=0.05) for name, what in NAMES.items()]


def draw(runs: Sequence[Numbers]):
    """Two rows for each model, pretrained and fresh, one dot per seed."""
    fig, (axis,) = figure()
    names = {f"{n}, {start}": f"{what.partition(',')[0]}, {start}" for n, what in NAMES.items()
             for start in ("pretrained", "fresh")}  # fmt: skip
    dots(axis, runs, names, "held-out nats per token of the first line")
    return fig
