"""What runs inside the box: it imports the standard library, torch, numpy and IPython, never the project."""
