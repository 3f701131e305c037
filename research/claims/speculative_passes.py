"""Speculative decoding saves passes of the large model, and leaves the distribution of its output unchanged.

Two character models are counted in Python's language reference: the large one sees the two letters before, the draft
model one. Text is sampled from the large model alone, from the draft alone, and speculatively: the draft proposes four
letters, and the large model accepts or rejects them so that its own distribution is kept. Measured: letters per pass of
the large model, compared with the paper's formula for the measured acceptance rate; and the nats per letter of the
sampled text under the large model. Bands: at least 1.8 letters per pass, within 0.03 of the formula (which assumes the
same acceptance rate for each letter); nats within 0.06 of those of the large model's own text (6,000 letters had, in a
trial, a noise of 0.05), where the draft's are at least 1 higher.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from research import Claim, Measurement, Numbers, figure
from research.claims._manual import BYTES, train_test_bytes
from tfkit.decode.drawing import accept_draft, sample_token

CLAIM = Claim(
    title="Speculative decoding samples what the large model would have sampled, in fewer of its passes",
    paper="Leviathan et al. 2023, arXiv:2211.17192, equation 1 and appendix A.1",
    alt="Left: letters per pass, measured and by the formula, one dot per seed. Right: nats per letter of the text of "
    "the large model, of speculative decoding and of the draft: the first two are level, the third is higher",
)
WRITERS = {"large": "large model", "speculative": "speculation", "draft": "draft"}


@dataclass(frozen=True)
class Size:
    letters: int
    draft_tokens: int = 4


SCALES = {"tiny": Size(letters=20), "small": Size(letters=40_000), "full": Size(letters=400_000)}


ONE = torch.ones((), dtype=torch.float64)


def count_letters(text: Tensor) -> tuple[Tensor, Tensor]:
    """text int64 [N] -> p of the letter after two letters [V,V,V], smoothed with p after one letter [V,V], and the
    latter."""
    pairs = torch.zeros(BYTES, BYTES, dtype=torch.float64).index_put_((text[:-1], text[1:]), ONE, accumulate=True)
    after_one = pairs + 0.01
    after_one /= after_one.sum(-1, keepdim=True)
    triples = torch.zeros(BYTES, BYTES, BYTES, dtype=torch.float64)
    triples.index_put_((text[:-2], text[1:-1], text[2:]), ONE, accumulate=True)
    after_two = triples + 2 * after_one  # as if each pair had been seen twice more, distributed as after one letter
    return after_two / after_two.sum(-1, keepdim=True), after_one


def run(seed: int, size: Size) -> Numbers:
    """Letters per pass, the formula's, and nats per letter under the large model by writer."""
    large, draft = count_letters(train_test_bytes()[0])
    draws = torch.Generator().manual_seed(seed)
    written, passes, overlaps = speculate(large, draft, size, draws)
    share = sum(overlaps) / len(overlaps)
    large_text = write(lambda ids: large[ids[-2], ids[-1]], size.letters, draws)
    drafted = write(lambda ids: draft[ids[-1]], size.letters, draws)
    texts = {"speculative": written, "large": large_text, "draft": drafted}
    return {
        "measured": (len(written) - 2) / passes,
        "formula": (1 - share ** (size.draft_tokens + 1)) / (1 - share),
        **{name: nats(large, ids) for name, ids in texts.items()},
    }


def draw_letter(p: Tensor, draws: torch.Generator) -> int:
    """p [V] -> one letter."""
    return int(sample_token(p.log()[None], torch.rand(1, generator=draws))[0])


def write(after, letters: int, draws: torch.Generator) -> list[int]:
    """`letters` letters, each drawn from after(the letters so far)."""
    ids = list(b". ")
    while len(ids) < letters + 2:
        ids.append(draw_letter(after(ids), draws))
    return ids


def speculate(large: Tensor, draft: Tensor, size: Size, draws: torch.Generator) -> tuple[list[int], int, list[float]]:
    """-> the letters, the number of passes of the large model, and the acceptance probability of each draft token"""
    ids, passes, overlaps = list(b". "), 0, []
    while len(ids) < size.letters + 2:
        ahead = write_more(ids, draft, size.draft_tokens, draws)
        p = torch.stack([large[one, two] for one, two in zip(ahead[:-1], ahead[1:], strict=True)])
        q = draft[torch.tensor(ahead[-size.draft_tokens - 1 : -1])]
        u = torch.rand(size.draft_tokens + 1, generator=draws).tolist()
        kept = accept_draft(ahead[-size.draft_tokens :], q, p, u[:-1], u[-1])
        judged = min(len(kept), size.draft_tokens)  # tokens after the first rejected one are not judged
        overlaps += torch.minimum(p[:judged], q[:judged]).sum(-1).tolist()
        ids += kept
        passes += 1
    return ids, passes, overlaps


def write_more(ids: list[int], draft: Tensor, count: int, draws: torch.Generator) -> list[int]:
    """The letters, followed by `count` draft tokens."""
    ahead = list(ids[-2:])
    for _ in range(count):
        ahead.append(draw_letter(draft[ahead[-1]], draws))
    return ahead


def nats(large: Tensor, ids: list[int]) -> float:
    """The mean negative log-probability of the letters under the large model."""
    text = torch.tensor(ids)
    return -large[text[:-2], text[1:-1], text[2:]].log().mean().item()


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """Letters per pass compared with the formula, and nats compared with the large model's own text."""
    more = lambda name: [run[name] - run["large"] for run in runs]
    return [
        Measurement("letters per pass of the large model", [run["measured"] for run in runs], at_least=1.8),
        Measurement("the same, minus the formula", [run["measured"] - run["formula"] for run in runs], -0.03, 0.03),
        Measurement("nats per letter, speculative minus large model alone", more("speculative"), -0.06, 0.06),
        Measurement("nats per letter, draft alone minus large model alone", more("draft"), at_least=1),
    ]


def draw(runs: Sequence[Numbers]):
    """Left: letters per pass, measured and by the formula. Right: nats per letter by writer. One dot per seed."""
    fig, axes = figure(2)
    for axis, names, label in ((axes[0], {"measured": "measured", "formula": "formula"}, "letters per pass"),
                               (axes[1], WRITERS, "nats per letter, by the large model")):  # fmt: skip
        for x, name in enumerate(names):
            axis.plot([x] * len(runs), [run[name] for run in runs], "o", color="tab:blue", alpha=0.7)
        axis.set(xticks=range(len(names)), xticklabels=names.values(), ylabel=label, xlim=(-0.5, len(names) - 0.5))
        axis.set_ylim(0, 1.1 * max(run[name] for run in runs for name in names))
    return fig
