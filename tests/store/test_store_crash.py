"""What was acknowledged is there, once, wherever its writer was killed."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest

from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database

pytestmark = pytest.mark.slow

WRITER = """
import sys
from dissensus.records import Assignment, Question, Response
from dissensus.store.answers import AnswerLog
from dissensus.store.database import Database
life, store = sys.argv[1], AnswerLog(Database(sys.argv[2]))
question = Question(kind="contains", body={"item": "i", "label": 0})
number = 0
while True:
    ids = [f"{life}-{number}-{part}" for part in range(3)]
    given = [Assignment(ticket=i, annotator="ann", question=question, role="asked", shown={}, time="t") for i in ids]
    answers = [Response(id=i, question=question, annotator="ann", answer="no", ticket=i, time="t") for i in ids]
    store.keep(given, answers) if number % 10 else store.append(answers)
    print(*ids, flush=True)
    number += 1
"""
LIVES = 8


def test_no_acknowledged_answer_is_lost_to_a_kill(database: Database, database_url: str) -> None:
    chance, acknowledged = random.Random(3), []
    for life in range(LIVES):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(life), database_url], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        acknowledged += writer.stdout.readline().split()  # it has begun
        time.sleep(chance.uniform(0, 0.25))
        writer.kill()
        acknowledged += [identity for line in writer.stdout if line.endswith("\n") for identity in line.split()]
        writer.wait()
        writer.stdout.close()
    stored = [found.id for _, found in AnswerLog(database).all()]
    assert len(set(stored)) == len(stored)
    assert set(acknowledged) <= set(stored)
    assert len(acknowledged) >= 3 * LIVES
    # what was stored without being acknowledged is whole, and at most one batch of each life
    invented = set(stored) - set(acknowledged)
    assert len(invented) % 3 == 0
    assert len(invented) <= 3 * LIVES
