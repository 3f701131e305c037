"""Your mask has no axes for heads and queries, so broadcasting lines the batch up with the queries."""

import torch


def padding_mask(ids, pad_id):
    return ids != pad_id
