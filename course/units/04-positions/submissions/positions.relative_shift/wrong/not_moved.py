"""You leave the scores as they are: column j then means a distance, and the other scores' column j means a place."""


def relative_shift(scores):
    return scores.clone()
