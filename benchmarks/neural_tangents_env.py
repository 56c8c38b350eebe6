"""A Python environment in which neural-tangents runs, to compare our kernels with it.

    python benchmarks/neural_tangents_env.py FOLDER          # half a minute, 600 MB; then use FOLDER/bin/python

The last release (0.6.5) imports TensorFlow, and its empirical kernels use parts of JAX that no longer exist. We only
need its closed forms, which still run: this script installs it without its dependencies, adds the few that the closed
forms use, and replaces the `__init__.py` of the installed copy by one that imports nothing else. No formula is touched.
JAX is 0.4.38 unless `--jax` names another version: 0.10.2 is faster, but crashes as it compiles some of these kernels
in float64.
"""

from __future__ import annotations

import argparse
import subprocess
import venv
from pathlib import Path

NEEDED = ("numpy>=2.0", "scipy>=1.14", "frozendict>=2.4")
LIBRARY = "neural-tangents==0.6.5"
INIT = '''"""Only the closed forms of neural-tangents 0.6.5."""

from . import stax
from ._src.batching import batch
from ._src.utils.kernel import Kernel
'''


def interpreter_in(folder: Path, jax: str) -> Path:
    """Make the environment if it is not there, and return its interpreter."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    for packages in ((f"jax=={jax}", f"jaxlib=={jax}", *NEEDED), ("--no-deps", LIBRARY)):
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *packages], capture_output=True, text=True, check=False
        )
        if done.returncode:
            reason = (done.stderr.strip() or "no reason given").splitlines()[-1]
            raise SystemExit(f"pip could not install {' '.join(packages)}: {reason}")
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True).stdout.strip()
    (Path(packages) / "neural_tangents" / "__init__.py").write_text(INIT, encoding="utf-8")
    subprocess.run([python, "-c", "import neural_tangents.stax"], check=True)
    return python


def main() -> None:
    """Make the environment in the folder given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jax", default="0.4.38", metavar="VERSION")
    options = parser.parse_args()
    print(interpreter_in(options.folder, options.jax))


if __name__ == "__main__":
    main()
