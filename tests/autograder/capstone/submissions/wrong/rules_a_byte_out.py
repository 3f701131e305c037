import torch


class LanguageModel:
    """Gives all that did not come in training the probability 0, and much of what did."""

    def fit(self, ids, seconds):
        pass

    def log_probs(self, prefixes):
        sure = torch.zeros(len(prefixes), 256)
        sure[:, ord("a")] = 1.0
        return sure.log()
