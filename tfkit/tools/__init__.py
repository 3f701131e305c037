"""Command line tools for reading, comparing and measuring models."""
