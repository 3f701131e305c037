# functional style: nested comprehensions over a set of chosen numbers
def gap_sentences(sentences, chosen, mask):
    gone = {int(c) for c in chosen}
    shown = [[mask] if n in gone else list(s) for n, s in enumerate(sentences)]
    hidden = [s for n, s in enumerate(sentences) if n in gone]
    flat = lambda parts: [tok for part in parts for tok in part]
    return flat(shown), flat(hidden)
