"""`.ci/run` says at its end when it took longer than it may, and ends as its tests did."""

import re
import subprocess

import pytest

from tools.size import ROOT


@pytest.mark.parametrize(("minutes", "said"), [(44, ""), (46, "WARNING: the whole run took 46 minutes of the 45")])
@pytest.mark.parametrize("status", [0, 3])
def test_a_run_that_takes_too_long_says_so_and_ends_as_it_would(minutes, said, status):
    script = (ROOT / ".ci/run").read_text()
    function = re.search(r"^too_long\(\).*?^}$", script, re.M | re.S).group()
    limit = re.search(r"^WHOLE=.*$", script, re.M).group()
    code = f"set -euo pipefail\n{limit}\n{function}\nSECONDS={60 * minutes}\ntrap too_long EXIT\nexit {status}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == status and done.stdout.startswith(said) and bool(done.stdout) == bool(said)
