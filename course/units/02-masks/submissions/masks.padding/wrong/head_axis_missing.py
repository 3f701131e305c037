"""Your mask has three axes; against scores of four axes the batch then meets the heads."""

import torch


def padding_mask(ids, pad_id):
    return (ids != pad_id)[:, None, :]
