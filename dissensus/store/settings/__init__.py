"""study.toml: the only file of a study that a person edits, so its comments and order are kept."""

from dissensus.store.settings.common import AttackRankSettings, ModelSettings, ServeSettings, Settings
from dissensus.store.settings.files import (
    TASKS,
    add_models,
    change_settings,
    check_section,
    read_settings,
    remove_models,
    write_new,
)
from dissensus.store.settings.labels import JudgeSettings, LabelSettings, RankSettings, SelectSettings
from dissensus.store.settings.masks import CategorySettings, MaskSettings, TruthSettings
from dissensus.store.settings.scores import (
    LevelSettings,
    PairSettings,
    ScaleSettings,
    ScoreSettings,
)

__all__ = [
    "TASKS",
    "AttackRankSettings",
    "CategorySettings",
    "JudgeSettings",
    "LabelSettings",
    "LevelSettings",
    "MaskSettings",
    "ModelSettings",
    "PairSettings",
    "RankSettings",
    "ScaleSettings",
    "ScoreSettings",
    "SelectSettings",
    "ServeSettings",
    "Settings",
    "TruthSettings",
    "add_models",
    "change_settings",
    "check_section",
    "read_settings",
    "remove_models",
    "write_new",
]
