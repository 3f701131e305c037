"""What an instructor takes from a class: exports, passback, reports, likeness, unexplained answers."""
