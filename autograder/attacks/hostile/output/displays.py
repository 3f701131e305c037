"""Displays a hundred thousand things."""

from IPython.display import HTML, display

for n in range(3_000):
    display(HTML(f"<p>{n}</p>"))
won = False
