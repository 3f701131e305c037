"""Writes a script into prose, into an attachment and into the widget state."""

from nbformat.v4 import new_markdown_cell


def forge(nb, find):
    script = "<script>document.title = 'attacked'</script><img src=x onerror=alert(1)>"
    nb.cells.insert(0, new_markdown_cell(script, attachments={"x.svg": {"image/svg+xml": script}}))
    nb.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"x": "</script>" + script}}}
