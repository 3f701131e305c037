"""Remarks on the idiom and the design of an answer that is right: they cost no points."""
