"""Takes the whole card's memory and keeps it.

If it wins: the card's memory is taken.
"""

import torch

kept = []
while torch.cuda.is_available():
    kept.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))
won = False
