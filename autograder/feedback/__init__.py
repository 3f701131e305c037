"""How a verdict looks: on a page, in a terminal, and in French."""
