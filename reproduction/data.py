"""The documents' data sets as arrays: those of `tests/realdata.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
import realdata

load = realdata.load
