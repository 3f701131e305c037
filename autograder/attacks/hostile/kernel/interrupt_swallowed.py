"""Catches the interrupt that ends a call, for ever."""


def rnn_cell(*args):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
