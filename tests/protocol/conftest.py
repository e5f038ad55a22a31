"""Lets the tests of the protocol share their stage: tests are not a package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
