"""The tasks: what models can predict. To add one, add a folder here and a line below."""

from __future__ import annotations

from typing import Any

from dissensus.competition.task import Task
from dissensus.tasks.labels import Labels
from dissensus.tasks.masks import Masks
from dissensus.tasks.scores import Scores

TASKS: dict[str, type[Task[Any, Any]]] = {task.name: task for task in (Labels, Scores, Masks)}
