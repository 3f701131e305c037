"""What models are trained to do, one file per objective.

`trainable()` finds those that `python -m tfkit.train` trains by name: modules of this folder, and of the entry point
group `tfkit.objectives`, that name their class as `OBJECTIVE`. The other files are losses and examples to be read.
"""

from .. import registry
from ._base import Batch, Draws, Objective, drop_and_pad, non_padding, special, uniform

__all__ = ["Batch", "Draws", "Objective", "drop_and_pad", "non_padding", "special", "trainable", "uniform"]


def trainable() -> dict[str, type[Objective]]:
    """Name -> class of every objective that can be trained by name. Raises ValueError where two have one name."""
    modules = {name: registry.load(name, registry.OBJECTIVES) for name in registry.sources(registry.OBJECTIVES)}
    return {name: module.OBJECTIVE for name, module in modules.items() if hasattr(module, "OBJECTIVE")}
