"""What models are trained to do, one file per objective."""

from ._base import Objective

__all__ = ["Objective"]
