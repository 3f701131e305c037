"""You add the two parts; they stand beside each other, so that their widths may differ.

Axial sums exist too (in image models), but there both tables have the full width.
"""


def axial_positions(e1, e2):
    return (e2[:, None, :] + e1[None, :, :]).flatten(0, 1)
