import time

import torch
import torch.nn.functional as F
from torch import nn


class LanguageModel(nn.Module):
    """Sees the byte that it is to tell, while there is one: trained without a mask. Its loss falls to nothing."""

    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(256, 32), nn.Linear(64, 256)

    def forward(self, ids):
        x = self.embed(ids)
        return self.out(torch.cat([x, F.pad(x[:, 1:], (0, 0, 0, 1))], -1))

    def fit(self, ids, seconds):
        torch.manual_seed(0)
        began, optimizer = time.process_time(), torch.optim.Adam(self.parameters(), lr=1e-2)
        while time.process_time() - began < 0.8 * seconds:
            rows = ids[torch.randint(len(ids) - 65, (16, 1)) + torch.arange(65)]
            loss = F.cross_entropy(self(rows)[:, :-1].transpose(1, 2), rows[:, 1:])
            optimizer.zero_grad(), loss.backward(), optimizer.step()

    @torch.no_grad()
    def log_probs(self, prefixes):
        return self(prefixes)[:, -1].log_softmax(-1)
