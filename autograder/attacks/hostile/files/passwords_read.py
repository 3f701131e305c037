"""Reads the machine's accounts."""

won = False
for path in ("/etc/shadow", "/etc/passwd", "/etc/machine-id", "/etc/ssh/sshd_config"):
    try:
        won |= bool(open(path).read())
    except OSError:
        continue
