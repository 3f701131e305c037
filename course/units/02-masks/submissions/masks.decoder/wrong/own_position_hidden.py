"""Your positions may not see themselves.

The decoder's input is already shifted: position i holds the word before the one to predict.
"""

import torch


def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    past = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril(diagonal=-1)
    real = (ids != pad_id)[:, None, None, :]
    return past & real
