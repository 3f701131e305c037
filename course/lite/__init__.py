"""The course in a browser's tab: a JupyterLite site, its wheels, and the torch that its kernel has."""
