"""Looking inside a running model, and changing it there: edits, lenses, patching, attribution.

Everything works for every architecture, because it uses only two mechanisms: hooks on modules, and `tracing.offer` in
the attention.
"""

from .causes import attention_heads, input_attribution, knock_out, patch_heads, residual_contributions
from .edits import Edits, edit
from .layers import block_outputs, block_paths
from .lens import logit_lens

__all__ = [
    "Edits",
    "attention_heads",
    "block_outputs",
    "block_paths",
    "edit",
    "input_attribution",
    "knock_out",
    "logit_lens",
    "patch_heads",
    "residual_contributions",
]
