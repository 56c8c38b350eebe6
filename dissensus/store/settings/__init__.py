"""study.toml: the only file of a study that people edit, so comments and order are preserved."""

from dissensus.store.settings.common import (
    CROP,
    AttackRankSettings,
    BootstrapSettings,
    CountingSettings,
    MethodSettings,
    ModelSettings,
    ServeSettings,
    Settings,
)
from dissensus.store.settings.files import (
    change_settings,
    check_section,
    read_settings,
    remove_models,
    set_models,
    write_new,
)

__all__ = [
    "CROP",
    "AttackRankSettings",
    "BootstrapSettings",
    "CountingSettings",
    "MethodSettings",
    "ModelSettings",
    "ServeSettings",
    "Settings",
    "change_settings",
    "check_section",
    "read_settings",
    "remove_models",
    "set_models",
    "write_new",
]
