"""Training objectives, one file each.

`trainable()` finds the objectives that `python -m tfkit.train` trains by name: modules of this folder, and of the entry
point group `tfkit.objectives`, that define their class as `OBJECTIVE`. The other files are losses and examples to read.
"""

from .. import registry
from ._base import Batch, Draws, Objective, drop_and_pad, non_padding, special, uniform

__all__ = ["Batch", "Draws", "Objective", "drop_and_pad", "non_padding", "special", "trainable", "uniform"]


def trainable() -> dict[str, type[Objective]]:
    """Name -> class of every objective that can be trained by name. Raises ValueError if two have the same name."""
    modules = {name: registry.load(name, registry.OBJECTIVES) for name in registry.sources(registry.OBJECTIVES)}
    return {name: module.OBJECTIVE for name, module in modules.items() if hasattr(module, "OBJECTIVE")}
