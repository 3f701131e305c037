"""Names what is wrong with an answer: one mistake that is known, several at once, or the kind of thing it is."""
