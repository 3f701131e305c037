"""`autograder serve`: what students hand in is graded as it arrives in the exchange, and its feedback goes back there.

`course` follows one course directory, `feedback` makes and releases a student's pages, `command` runs the loop with
workers that stay warm, `status` answers the Hub. What is done stands in the course directory alone (`records.db`), so a
service that was killed goes on where it was.
"""
