"""Claims a card that is not there."""

import torch

torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: 8
torch.Tensor.device = "cuda"
won = False
