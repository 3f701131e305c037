"""`autograder serve`: grades submissions as they arrive in the exchange, and releases their feedback there.

`course` follows one course directory, `feedback` makes and releases a student's pages, `command` runs the loop with
workers that stay warm, `port` answers the Hub from the start, and `status` with a page. All state is in the course
directory (`records.db`), so a service that was killed continues where it stopped.
"""
