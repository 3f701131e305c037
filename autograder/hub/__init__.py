"""A JupyterHub for courses on one machine, started by one command, and the same class for Kubernetes."""
