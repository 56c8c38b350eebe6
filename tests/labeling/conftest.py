from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)  # the first call of many a library is slow; that is no failure
settings.load_profile("unhurried")
