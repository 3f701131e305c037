"""Lets torch use many threads, in the hope that one is looked at."""

import torch

torch.set_num_threads(4)
scores = slow
