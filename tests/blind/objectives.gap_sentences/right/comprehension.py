# comprehensions over the document, membership in a set
def gap_sentences(sentences, chosen, mask):
    gone = {int(i) for i in chosen}
    inputs = [token for i, s in enumerate(sentences) for token in ([mask] if i in gone else s)]
    targets = [token for i, s in enumerate(sentences) if i in gone for token in s]
    return inputs, targets
