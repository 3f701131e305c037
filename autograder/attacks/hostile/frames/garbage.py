"""Writes noise into the channel."""

import os

os.write(200, os.urandom(4096))
won = False
