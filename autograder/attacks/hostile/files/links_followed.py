"""Makes links to the course's files and reads and writes through them."""

import os

won = False
for name, target in enumerate((f"{COURSE}/gradebook.db", f"{COURSE}/course.key", f"{HOME}/.ssh/id_ed25519")):
    for make in (os.symlink, os.link):
        try:
            make(target, f"link-{name}")
            won |= bool(open(f"link-{name}", "rb").read(1))
        except OSError:
            continue
