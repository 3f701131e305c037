"""You use one mask for the whole batch: a column is shown only if it is real in every sentence.

Sentences of different length need different masks.
"""

import torch


def padding_mask(ids, pad_id):
    real = (ids != pad_id).all(dim=0, keepdim=True).expand_as(ids)
    return real[:, None, None, :]
