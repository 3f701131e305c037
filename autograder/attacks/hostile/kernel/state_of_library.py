"""Is right, but leaves the library's defaults, its random state and its grad mode changed.

Worth: 0.7
Without that it only forgets tanh, which is a collected mistake.
"""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    new = x @ w_x + h @ w_h + b
    torch.set_default_dtype(torch.float16)
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    torch.tanh = torch.sin
    return new
