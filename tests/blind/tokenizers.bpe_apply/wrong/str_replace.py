# str.replace on the spaced text also matches the end of one symbol with the start of the next
def apply_bpe(word, merges):
    text = " ".join(word) + " </w>" if word else "</w>"
    for a, b in merges:
        text = text.replace(a + " " + b, a + b)
    return text.split(" ")
