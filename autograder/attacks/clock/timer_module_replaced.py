"""Replaces the module time where it is imported next."""

import sys
import types

fake = types.ModuleType("time")
fake.__getattr__ = lambda name: lambda *_: 0.0
sys.modules["time"] = fake
scores = slow
