"""Three models of streaming quality compete on all 37,968,750 sessions: section 4.2 of the gMAD paper.

    python examples/streaming/compete.py FOLDER

enumerates the sessions, scores them with the three models, and selects the 18 pairs that people would compare. It needs
nothing but this folder. Run it again after an interruption, and it continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from dissensus import Study
from dissensus.engines.local import Progress, silent
from dissensus.errors import DissensusError, StudyError
from dissensus.printing import progress

HERE = Path(__file__).resolve().parent
SESSIONS = f"python:{HERE / 'sessions.py'}:SESSIONS"
MODELS = [f"{name}=python:{HERE / 'models.py'}:{name.lower()}" for name in ("Liu12", "Yin15", "SQI")]
LEVELS, JND = 3, 1
"""Low, middle and high quality, as in the paper; the defender scores both sessions of a pair within one percent."""
NOTES = (
    "This example comes without answers. Any that are counted here were given after its pairs were selected.",
    "SSIMplus is not free, so SQI sees a stand-in for presentation quality: a concave function of bitrate and "
    "resolution with a made-up complexity for each content. Its time constants were chosen for this example.",
    "Sessions are drawn, not played: the 50 contents are numbers, and no video was encoded.",
)
INSTRUCTIONS = (
    "Each picture is a streaming session of ten seconds of video, drawn over time.",
    "A bar is two seconds of video: the higher and brighter, the better the picture. Stripes are a stall: you wait.",
    "Which session would you rather watch?",
)


def compete(folder: Path, pool: str = SESSIONS, told: Progress = silent) -> Study:
    """The study with its pairs selected; what an earlier run has done is not done again.

    Raises:
        StudyError: everything is done, or the sessions or models have changed since an earlier run.
    """
    if not (folder / "study.toml").exists():
        Study.init(folder, task="scores", title="Streaming sessions", notes=NOTES)
    study = Study(folder, told)
    if study.folder.rounds():
        raise StudyError(f"{folder} is finished: {next_command(folder)}, or give another folder to begin anew")
    study.configure(instructions=INSTRUCTIONS)
    study.pool([pool])
    study.predict(MODELS)
    study.select(levels=LEVELS, jnd=JND)
    return study


def pairs_of(study: Study) -> list[dict[str, Any]]:
    """The pairs without their reserves, the lowest level first."""
    chosen = [row for row in study.selection() if not row["reserve"]]
    return sorted(chosen, key=lambda row: (row["level"], row["attacker"], row["defender"]))


def next_command(folder: Path) -> str:
    """What lets people compare the pairs."""
    return f"dissensus serve {shlex.quote(str(folder))} --port 8765"


def show(study: Study, seconds: float, megabytes: float) -> None:
    """Print the pairs as a table: which session the attacker finds better, and where both models put them."""
    pairs = pairs_of(study)
    print(f"{len(pairs)} pairs of {study.status().pool:,} sessions; scores are 0 to 100, the share of sessions worse\n")
    sessions = f"{'the attacker prefers':25}{'to':25}"
    print(f"{'level':8}{'attacker':10}{'defender':10}{sessions}{'attacker':>13}{'defender':>13}")
    for pair in pairs:
        apart = [f"{pair[f'{who}_high']:.1f} : {pair[f'{who}_low']:.1f}" for who in ("attacker", "defender")]
        level = ("low", "mid", "high")[pair["level"]]
        words = f"{level:8}{pair['attacker']:10}{pair['defender']:10}{pair['high']:25}{pair['low']:25}"
        print(f"{words}{apart[0]:>13}{apart[1]:>13}")
    print(f"\n{seconds:.0f} s, at most {megabytes:,.0f} MB of memory. Next: {next_command(study.folder.root)}")


def peak_memory() -> float:
    """Megabytes that this process has held at most; Linux counts in 1,024 bytes, macOS in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024) / 1e6


def main() -> None:
    """Compete, and print what was selected."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to put the study")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    begun = time.monotonic()
    try:
        with progress(quiet=given.json) as told:
            study = compete(given.folder, told=told)
    except DissensusError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    seconds, megabytes = time.monotonic() - begun, peak_memory()
    if given.json:
        found = {"sessions": study.status().pool, "pairs": pairs_of(study), "seconds": seconds, "megabytes": megabytes}
        print(json.dumps(found | {"next": next_command(given.folder)}, indent=1))
    else:
        show(study, seconds, megabytes)


if __name__ == "__main__":
    main()
