"""You hide the padding's queries as well; its rows then look nowhere. Only what is looked at needs hiding."""

import torch


def padding_mask(ids, pad_id):
    real = ids != pad_id
    return real[:, None, None, :] & real[:, None, :, None]
