"""Dissensus: which of these models is better, and where does each fail?"""

from typing import TYPE_CHECKING, Any

from dissensus.version import __version__

if TYPE_CHECKING:
    from dissensus.study import Study

__all__ = ["Study", "__version__"]


def __getattr__(name: str) -> Any:
    """Import `Study` on first use, so that importing one subpackage does not load all of it."""
    if name == "Study":
        from dissensus.study import Study

        return Study
    raise AttributeError(f"module 'dissensus' has no attribute '{name}'")
