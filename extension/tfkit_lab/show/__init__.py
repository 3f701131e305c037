"""Pictures of a model's computation, for our models and yours: each records one trace, and returns a view of it.

    from tfkit_lab import show
    show.attention(model, input_ids=ids, tokens=words)
    show.masks({"causal": causal_mask(8)})
    show.walk(my_attention, q, k, v, mask, tokens=words)
    show.logit_lens(model, ids, token=vocabulary.__getitem__)

A picture is live in the notebook, stays in the saved file, and `picture.to_html()` is a standalone page.
"""

from tfkit_lab.show.anatomy import anatomy
from tfkit_lab.show.attention import attention, two_streams
from tfkit_lab.show.contributions import contributions
from tfkit_lab.show.corruption import corruption
from tfkit_lab.show.heads import ablation, heads, patching
from tfkit_lab.show.lens import logit_lens
from tfkit_lab.show.matrices import case, flow, masks, matrices, positions
from tfkit_lab.show.retrieval import retrieval
from tfkit_lab.show.training import training
from tfkit_lab.show.walk import walk, walk_over

__all__ = [
    "ablation", "anatomy", "attention", "case", "contributions", "corruption", "flow", "heads", "logit_lens", "masks",
    "matrices", "patching", "positions", "retrieval", "training", "two_streams", "walk", "walk_over",
]  # fmt: skip
