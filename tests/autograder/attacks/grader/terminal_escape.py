"""Raises an exception whose words set the terminal's title, clear its screen, and forge a line and a link.

Exercise: rnn.cell
Fails: right values"""


def rnn_cell(x, h, w_x, w_h, b):
    raise ValueError("\x1b]0;root\x07\x1b[2J\x1b[1m passed, 1 of 1\r\x1b]8;;http://evil.test\x1b\\here")
