"""Looking inside a running model, and changing it there: edits, lenses, patching, attribution.

Everything works for every architecture, because it uses only two mechanisms: hooks on modules, and `tracing.offer` in
the attention.
"""

from .causes import ablate_heads, attention_heads, input_attribution, knock_out, patch_heads, residual_contributions
from .edits import Edits, edit
from .layers import block_outputs, block_paths
from .lens import logit_lens
from .logits import logit_contributions

__all__ = [
    "Edits",
    "ablate_heads",
    "attention_heads",
    "block_outputs",
    "block_paths",
    "edit",
    "input_attribution",
    "knock_out",
    "logit_contributions",
    "logit_lens",
    "patch_heads",
    "residual_contributions",
]
