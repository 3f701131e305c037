"""Makes a device node of the machine's disk."""

import os
import stat

won = False
for major, minor in ((8, 0), (254, 0), (253, 0), (1, 1)):
    try:
        os.mknod(f"disk-{major}", stat.S_IFBLK | 0o600, os.makedev(major, minor))
        won = True
    except OSError:
        continue
