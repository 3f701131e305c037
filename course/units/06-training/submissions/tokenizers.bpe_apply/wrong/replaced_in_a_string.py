"""You replace text in a string with spaces between the symbols: neighbours share one space, and runs lose every other merge.

After the first replacement in ` a a a a ` the space that the next one needs is used up."""


def apply_bpe(word, merges):
    text = " " + " ".join([*word, "</w>"]) + " "
    for left, right in merges:
        text = text.replace(f" {left} {right} ", f" {left}{right} ")
    return text.split()
