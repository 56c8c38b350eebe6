"""The command, as `dissensus` or `python -m dissensus`."""

import os
import signal


def main() -> None:
    """Run the command line; the first signal ends it, even while Python is still importing everything."""
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, lambda number, _: os._exit(128 + number))
    from dissensus.cli import main

    main()


if __name__ == "__main__":
    main()
