"""The checks of this unit's exercises: a function for each, named in exercises.py.

`draw` gives fresh inputs for every submission; a Case is a call. `function` asks for the reference's values and types,
the same gradients, no changed arguments; CONTRIBUTING.md of tfkit-course and `autograder.checks` have other properties.
"""

from collections.abc import Iterator

from autograder.checks import Case, Check, Draw, function


def cosine() -> list[Check]:
    """my_unit.cosine"""

    def cases(draw: Draw) -> Iterator[Case]:
        for rows, columns, size in [(2, 3, 4), (1, 1, 2), (3, 1, 5), (4, 4, 4)]:
            yield Case("cosine", (2 * draw.normal(rows, size), 2 * draw.normal(columns, size)))

    return function(cases)
