"""What is asked of this package's exercise."""

from autograder.checks import Case, Check, Draw, flow, function, linear


def moving_average() -> list[Check]:
    """smoothing.moving_average"""

    def cases(draw: Draw):
        for shape in [(1, 2, 1), (1, 1, 3), (2, 5, 4)]:
            yield Case("moving_average", (draw.normal(*shape),))

    return [*function(cases), flow(cases, 0), linear(cases)]
