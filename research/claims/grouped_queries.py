"""The key and value heads of a trained model are averaged in groups, and a little more training makes up for it.

Measured: a Llama with a key-value head for each of its 8 query heads is trained on the bytes of Python's language
reference. Its key-value heads are then replaced by fewer, and the new model is trained for a tenth as many steps again
(the paper's uptraining): 2 heads, each the mean of four; or 1 head, which is the mean of all, the first of them, or
randomly initialised. The old model gets the same additional steps. The scores are nats per byte of unseen topics, and
the bytes of the cache after a text, as the models really store it. The paper finds that means are the best start, then
the first head, then random weights (figure 4), and that groups come closer to full heads than a single head does
(figure 3). Bands: that order, in every seed; 2 averaged heads cost at most 0.05 nats, and the cache is a quarter.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from research.claims._manual import BYTES, held_out_nats, next_byte_loss, random_pieces, train_test_bytes

CLAIM = Claim(
    title="Heads averaged in groups, after a little more training, need a fraction of the cache at nearly the same "
    "quality",
    paper="Ainslie et al. 2023, arXiv:2305.13245, section 2.1 and figures 3 and 4",
    alt="Nats per byte of unseen text, one dot per seed: lowest for all 8 key-value heads, higher for 2 averaged "
    "ones, higher still for 1, and highest if that one is the first of all or randomly initialised",
    remark="Run once: the cache is a quarter, and both means are in the paper's order in every seed, but two averaged "
    "heads cost 0.46 nats (0.424 to 0.498) after 40 steps of uptraining, and in one seed a randomly initialised head "
    "ends below the first. More steps of uptraining were not tried.",
)
NAMES = {"all": "8 key heads", "2, mean": "2, means", "1, mean": "1, the mean", "1, first": "1, the first",
         "1, random": "1, fresh"}  # fmt: skip


@dataclass(frozen=True)
class Size:
    steps: int
    length: int = 32
    width: int = 48
    d_head: int = 12
    batch: int = 24
    peak: float = 4e-3

    @property
    def uptraining_steps(self) -> int:
        """Steps of uptraining."""
        return max(1, self.steps // 10)


SCALES = {
    "tiny": Size(steps=1, length=8, width=16, batch=2),
    "small": Size(steps=400),
    "full": Size(steps=20000, length=512, width=512, batch=32, peak=5e-4),
}


def merge_heads(weight: Tensor, heads: int, how: str) -> Tensor:
    """weight [8·D,E] of a projection to keys or values -> [heads·D,E]: by the mean, the first or a random draw of each
    group."""
    groups = weight.unflatten(0, (heads, 8 // heads, -1))  # [heads,group,D,E]
    if how == "random":
        return torch.empty_like(groups[:, 0]).normal_(std=0.02).flatten(0, 1)
    return (groups.mean(1) if how == "mean" else groups[:, 0]).flatten(0, 1)


def with_fewer_heads(model: nn.Module, heads: int, how: str) -> nn.Module:
    """A copy with this number of key and value heads."""
    fields = {**asdict(model.config), "n_kv_heads": heads}  # type: ignore[call-overload]
    state = {name: merge_heads(value, heads, how) if "k_proj" in name or "v_proj" in name else value
             for name, value in model.state_dict().items()}  # fmt: skip
    fewer = tfkit.from_config("llama", "causal_lm", **fields)
    fewer.load_state_dict(state)
    return fewer


def run(seed: int, size: Size) -> Numbers:
    """Nats per byte and bytes of the cache, by the heads."""
    numbers: Numbers = {}
    batches = random_pieces(train_test_bytes()[0], size.length + 1, size.batch)
    torch.manual_seed(seed)
    model = tfkit.from_config("llama", "causal_lm", vocab_size=BYTES, d_model=size.width, n_layers=2, n_heads=8,
                              d_head=size.d_head, d_ff=2 * size.width)  # fmt: skip
    train(model, batches, size.steps, size.peak, seed, loss=next_byte_loss)
    starts = {"all": model}
    for name in list(NAMES)[1:]:
        heads, how = name.split(", ")
        starts[name] = with_fewer_heads(model, int(heads), how)
    for name, one in starts.items():
        train(one.train(), batches, size.uptraining_steps, size.peak / 4, seed + 1, loss=next_byte_loss)
        nats = held_out_nats(one, size.length)
        numbers[name] = {"nats": sum(nats) / len(nats), "bytes": cache_bytes(one, size.length)}
    return numbers


@torch.no_grad()
def cache_bytes(model: nn.Module, length: int) -> int:
    """The bytes that the model keeps of a text of this number of tokens, without room for positions to come."""
    cache = model(input_ids=torch.zeros(1, length, dtype=torch.int64), use_cache=True).cache
    kept = [part[:, :, :length] for buffer in cache.self_attention.values() for part in (buffer.k, buffer.v)]
    return sum(part.numel() * part.element_size() for part in kept)


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The size of the cache, the cost of averaging, and the order of the ways to initialise."""
    above = lambda one, other: [run[one]["nats"] - run[other]["nats"] for run in runs]
    return [
        Measurement("cache of 8 key-value heads over that of 2",
                    [run["all"]["bytes"] / run["2, mean"]["bytes"] for run in runs], 3.99, 4.01, "×"),
        Measurement("cost of 2 averaged heads, nats per byte", above("2, mean", "all"), at_most=0.05),
        Measurement("loss, 1 averaged head minus 2", above("1, mean", "2, mean"), at_least=0.0),
        Measurement("loss, first head minus mean", above("1, first", "1, mean"), at_least=0.0),
        Measurement("loss, random head minus first head", above("1, random", "1, first"), at_least=0.0),
    ]  # fmt: skip


def draw(runs: Sequence[Numbers]):
    """A row for each kind of heads, one dot per seed."""
    fig, (axis,) = figure()
    dots(axis, [{name: run[name]["nats"] for name in NAMES} for run in runs], NAMES, "nats per byte, unseen text")
    return fig
