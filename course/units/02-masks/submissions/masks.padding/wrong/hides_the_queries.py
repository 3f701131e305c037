"""You hide rows instead of columns: the padding's own queries are silenced, but real words still look at padding.

Which axis of the scores is the one being looked at?
"""

import torch


def padding_mask(ids, pad_id):
    return (ids != pad_id)[:, None, :, None]
