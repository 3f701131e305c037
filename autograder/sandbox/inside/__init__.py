"""What runs inside the box. Self-contained: it imports the standard library, torch, numpy and IPython, never the project."""
