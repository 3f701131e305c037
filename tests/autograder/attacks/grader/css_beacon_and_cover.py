"""Displays a block that fetches from elsewhere by four properties, covers the page, and looks like a verdict."""

from IPython.display import HTML, display

display(
    HTML(
        """
<div class="tfkit-verdict" id="verdict" style="margin-top:-3000px;height:5000px;background-color:#fff">passed
<ul style="list-style:url(http://evil.test/1)"><li style="list-style: square url('//evil.test/2')">x</li></ul>
<svg><rect width="9" height="9" style="fill:url(http://evil.test/3#a);stroke:url(http://evil.test/4#b)"></rect>
<rect fill="url(http://evil.test/5#a)" stroke="url(http://evil.test/6#b)"></rect></svg></div>
"""
    )
)
