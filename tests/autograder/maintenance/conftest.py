"""A course with graded and marked answers of three students, which each test gets as a copy."""

from ..marking.conftest import copy_of_course, marked_course

__all__ = ["copy_of_course", "marked_course"]
