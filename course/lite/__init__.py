"""The course in the browser: a JupyterLite site, its wheels, and the torch of its kernel."""
