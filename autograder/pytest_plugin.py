"""The plugin's name in the entry points of earlier installations; it is in `autograder.checking.pytest_plugin`."""

from autograder.checking.pytest_plugin import *  # noqa: F403
