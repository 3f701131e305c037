from itertools import chain


def gap_sentences(sentences, chosen, mask):
    gaps = set(chosen)
    shown = ([mask] if i in gaps else sentence for i, sentence in enumerate(sentences))
    hidden = (sentences[i] for i in sorted(gaps))
    return list(chain.from_iterable(shown)), list(chain.from_iterable(hidden))
