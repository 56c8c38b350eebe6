"""study.toml: the only file of a study that a person edits, so its comments and order are kept."""

from dissensus.store.settings.common import (
    CROP,
    AttackRankSettings,
    CountingSettings,
    MethodSettings,
    ModelSettings,
    ServeSettings,
    Settings,
)
from dissensus.store.settings.files import (
    add_models,
    change_settings,
    check_section,
    read_settings,
    remove_models,
    write_new,
)

__all__ = [
    "CROP",
    "AttackRankSettings",
    "CountingSettings",
    "MethodSettings",
    "ModelSettings",
    "ServeSettings",
    "Settings",
    "add_models",
    "change_settings",
    "check_section",
    "read_settings",
    "remove_models",
    "write_new",
]
