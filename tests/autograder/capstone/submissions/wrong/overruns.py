class LanguageModel:
    """Does not look at the time."""

    def fit(self, ids, seconds):
        total = 0
        while True:
            total += 1

    def log_probs(self, prefixes):
        return None
