"""English to French: attention compared with one vector per sentence, and the transformer with both.

Measured: the models of copy_reverse_sort, somewhat larger, learn the interface strings of JupyterLab's French language
pack (some 2,100 pairs, without near-duplicates of the test set) with label smoothing, and are scored on 251 sentences:
BLEU and chrF on all of them, on those that resemble no training sentence, on short ones and on long ones. The bands are
in chrF, because BLEU is close to zero after so little training: attention gains the GRU at least 1 point, and more on
sentences of six words or more than on shorter ones; the transformer is at least 1 point better than the GRU without
attention, and no worse than the one with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from tfkit.data import Recipe, SentencePair, TranslationTask, score, translation_task
from tfkit.text.vocabulary import pad
from tfkit.train import Batch

CLAIM = Claim(
    title="In translation too, attention helps most with long sentences, and the transformer needs nothing else",
    paper="Bahdanau et al. 2015, arXiv:1409.0473, figure 2; Vaswani et al. 2017, arXiv:1706.03762, table 2",
    alt="chrF of the three models, one dot per seed, on all sentences, dissimilar ones, short ones and long ones; a "
    "dashed line shows the score of copying the translation of the nearest training sentence",
)
NAMES = {"bottleneck": ("GRU", "tab:orange"), "attention": ("GRU with attention", "tab:green"),
         "transformer": ("transformer", "tab:blue")}  # fmt: skip
PARTS = {"all": lambda pair: True, "far": lambda pair: pair.is_dissimilar,
         "short": lambda pair: len(pair.source.split()) < 6,
         "long": lambda pair: len(pair.source.split()) >= 6}  # fmt: skip


@dataclass(frozen=True)
class Size:
    steps: int
    width: int = 96
    hidden: int = 128
    vocab_size: int = 1000
    batch_tokens: int = 600
    peak: float = 3e-3
    n_test: int = 1000  # at most


SCALES = {
    "tiny": Size(steps=1, width=8, hidden=8, batch_tokens=60, n_test=4),
    "small": Size(steps=400),
    "full": Size(steps=6000, width=256, hidden=512, vocab_size=4000, batch_tokens=4000, peak=1e-3),
}


def models(size: Size, task: TranslationTask) -> dict[str, nn.Module]:
    """Dropout 0.1, label smoothing 0.1, and ids from the task's tokenizer in all three."""
    common = dict(head="seq2seq_lm", vocab_size=len(task.tokenizer), pad_token_id=task.tokenizer.pad_id, dropout=0.1)
    common |= dict(decoder_start_token_id=task.tokenizer.start_id, eos_token_id=task.tokenizer.end_id)
    common |= dict(label_smoothing=0.1)
    cells = dict(d_embed=size.width, d_hidden=size.hidden)
    rnn = lambda attention: tfkit.from_config("rnn_seq2seq", attention=attention, **cells, **common)
    wide = dict(d_model=size.width, n_heads=4, d_ff=4 * size.width, n_layers=2)
    return {"bottleneck": rnn("none"), "attention": rnn("dot"),
            "transformer": tfkit.from_config("transformer", **wide, **common)}  # fmt: skip


def run(seed: int, size: Size) -> Numbers:
    """Model -> part of the test -> BLEU and chrF; the split is the same for all seeds."""
    task = translation_task(Recipe(vocab_size=size.vocab_size, batch_tokens=size.batch_tokens))
    test_pairs = task.corpus.test[: size.n_test]
    numbers: Numbers = {"copied": task.baseline().chrf}
    for name, model in models(size, task).items():
        loss = lambda model, batch: translation_loss(model, batch, task.tokenizer.pad_id)
        train(model, task.train_batches, size.steps, size.peak, seed, loss=loss)
        numbers[name] = scores(translate_greedily(model, [pair.source for pair in test_pairs], task), test_pairs)
    return numbers


def translation_loss(model: nn.Module, batch: Batch, pad_id: int) -> torch.Tensor:
    """Scalar with the model's own smoothing, over labels that are no padding: batch.src [B,S], batch.tgt [B,T]."""
    labels = batch.tgt.masked_fill(batch.tgt == pad_id, -100)
    return model(input_ids=batch.src, attention_mask=batch.src != pad_id, labels=labels).loss


def translate_greedily(model: nn.Module, sentences: Sequence[str], task: TranslationTask) -> list[str]:
    """Greedy translations, in batches of similar length."""
    rows = task.encode(sentences)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    french = [""] * len(rows)
    for start in range(0, len(order), 64):
        chunk = order[start : start + 64]
        ids = pad([rows[i] for i in chunk], task.tokenizer.pad_id)
        translated = tfkit.generate(model, ids, attention_mask=ids != task.tokenizer.pad_id, max_new_tokens=40)
        for i, text in zip(chunk, task.tokenizer.decode(translated[:, 1:].tolist()), strict=True):
            french[i] = text
    return french


def scores(french: Sequence[str], pairs: Sequence[SentencePair]) -> dict[str, list[float]]:
    """Part -> BLEU and chrF; a part without sentences scores 0."""
    found = {}
    for part, belongs in PARTS.items():
        chosen = [(text, pair) for text, pair in zip(french, pairs, strict=True) if belongs(pair)]
        one = score([text for text, _ in chosen], [pair for _, pair in chosen]) if chosen else None
        found[part] = [one.bleu, one.chrf] if one else [0.0, 0.0]
    return found


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """All in chrF except the last: the transformer's BLEU, which has to be at least 1."""
    lead = lambda one, other, part="all": [run[one][part][1] - run[other][part][1] for run in runs]
    by_length = zip(lead("attention", "bottleneck", "long"), lead("attention", "bottleneck", "short"), strict=True)
    return [
        Measurement("chrF, GRU with attention minus GRU", lead("attention", "bottleneck"), at_least=1),
        Measurement("the same difference, long sentences minus short ones", [a - b for a, b in by_length], at_least=0),
        Measurement("chrF, transformer minus GRU", lead("transformer", "bottleneck"), at_least=1),
        Measurement("chrF, transformer minus GRU with attention", lead("transformer", "attention"), at_least=0),
        Measurement("BLEU of the transformer", [run["transformer"]["all"][0] for run in runs], at_least=1),
    ]


def draw(runs: Sequence[Numbers]):
    """chrF by part of the test, one dot per seed; the dashed line is the baseline that copies the nearest
    translation."""
    fig, (axis,) = figure()
    for i, (name, (label, colour)) in enumerate(NAMES.items()):
        for run in runs:
            x_positions = [place + (i - 1) / 6 for place in range(len(PARTS))]
            shown = label if run is runs[0] else None
            axis.plot(x_positions, [run[name][part][1] for part in PARTS], "o", color=colour, alpha=0.7, label=shown)
    axis.axhline(runs[0]["copied"], color="gray", ls="--", label="nearest sentence copied")
    axis.set(xticks=range(len(PARTS)), xticklabels=PARTS, ylabel="chrF", xlabel="sentences")
    axis.set_ylim(bottom=0)
    axis.legend(fontsize="small")
    return fig
