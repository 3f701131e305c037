"""The exercises of this unit, in their order."""

from course import exercise

EXERCISES = [exercise("my_unit.cosine", "The cosine of two vectors", "my_unit.reference:cosine", checks="cosine")]
