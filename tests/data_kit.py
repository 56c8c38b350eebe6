"""Where the data kit lies: DISSENSUS_KIT, or beside the project."""

from __future__ import annotations

import os
from pathlib import Path

KIT = Path(os.environ.get("DISSENSUS_KIT") or Path(__file__).resolve().parents[2] / "shared" / "data")
