import re

GAP = "\0"


def apply_bpe(word, merges):
    text = GAP.join([*word, "</w>"])
    for left, right in merges:
        pair = re.escape(left + GAP + right)
        text = re.sub(f"(?:(?<=^)|(?<={GAP})){pair}(?={GAP}|$)", lambda found: left + right, text)
    return text.split(GAP)
