"""Reads what an earlier student left in the card's memory."""

import torch

won = False
if torch.cuda.is_available():
    won = bool(torch.empty(1 << 28, dtype=torch.uint8, device="cuda").any())
