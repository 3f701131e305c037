"""`python -m tfkit_lab.show MODEL [OTHER]`: the trace of an anatomy, for processes without torch."""

import json
import sys

from tfkit_lab.show import anatomy

try:
    print(json.dumps(anatomy(*sys.argv[1:3]).trace))
except (LookupError, ValueError, TypeError) as error:
    sys.exit(str(error.args[0]))
