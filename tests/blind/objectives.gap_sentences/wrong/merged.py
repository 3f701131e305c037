# neighbouring chosen sentences share one mask
from itertools import chain, groupby


def gap_sentences(sentences, chosen, mask):
    chosen = set(chosen)
    inputs, targets = [], []
    for is_gap, group in groupby(enumerate(sentences), key=lambda pair: pair[0] in chosen):
        tokens = list(chain.from_iterable(s for _, s in group))
        if is_gap:
            inputs.append(mask)
            targets += tokens
        else:
            inputs += tokens
    return inputs, targets
