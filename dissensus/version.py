"""The version of the package, where everything can import it."""

__version__ = "0.1.0"


def installing(extra: str) -> str:
    """The command that installs what an extra needs, by the packages' own names: that works wherever we came from."""
    import shlex
    from importlib.metadata import PackageNotFoundError, requires

    try:
        listed = [line.replace("'", '"').partition(";") for line in requires("dissensus") or ()]
    except PackageNotFoundError:  # run from a copy of the source
        listed = []
    needed = [shlex.quote(name.strip()) for name, _, marker in listed if f'extra == "{extra}"' in marker]
    return f"pip install {' '.join(needed) or shlex.quote(f'.[{extra}]')}"
