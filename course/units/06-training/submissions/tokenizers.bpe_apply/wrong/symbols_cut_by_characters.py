"""You replace text without looking where symbols begin and end, so a merge also joins parts of longer symbols.

A merge joins two whole symbols."""


def apply_bpe(word, merges):
    text = " ".join([*word, "</w>"])
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text.split(" ")
