"""You merge by replacing text in a string with spaces between the symbols, so every other merge in a run of equal symbols is missed.

Neighbouring symbols share one space: after the first replacement in ` a a a a ` the space that the next one needs is used up.
"""


def apply_bpe(word, merges):
    text = " " + " ".join([*word, "</w>"]) + " "
    for left, right in merges:
        text = text.replace(f" {left} {right} ", f" {left}{right} ")
    return text.split()
