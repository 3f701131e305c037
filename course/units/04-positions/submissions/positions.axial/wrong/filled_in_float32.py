"""You fill a float32 table whatever the dtype of the two tables, but the result must have their dtype."""

import torch


def axial_positions(e1, e2):
    (l1, d1), (l2, d2) = e1.shape, e2.shape
    table = torch.zeros(l1 * l2, d1 + d2)
    for j in range(l1 * l2):
        table[j, :d1], table[j, d1:] = e1[j % l1], e2[j // l1]
    return table
