"""`python -m dissensus` is `dissensus`."""

from dissensus.cli import main

if __name__ == "__main__":
    main()
