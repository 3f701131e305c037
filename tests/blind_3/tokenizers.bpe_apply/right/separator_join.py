# builds each round a new list by walking with an iterator and a pending symbol
def apply_bpe(word, merges):
    pieces = [*word, "</w>"]
    for left, right in merges:
        merged = []
        used = False  # is the last entry of merged a fresh merge? then it may not be merged again with the same rule
        for p in pieces:
            if merged and not used and merged[-1] == left and p == right:
                merged[-1] = left + right
                used = True
            else:
                merged.append(p)
                used = False
        pieces = merged
    return pieces
