"""Displays a script that would run in the instructor's browser."""

from IPython.display import HTML, Javascript, display

display(HTML("<script>document.title = 'attacked'</script><img src=x onerror=\"document.title = 'attacked'\">"))
display(Javascript("document.title = 'attacked'"))
won = False
