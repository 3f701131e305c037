"""Benchmarks of the models, of grading and of the course, in the checkout: `make bench`, `make gpu`."""
