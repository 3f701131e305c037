"""Names what is wrong with an answer: one known mistake, several at once, or else the kind of mistake."""
