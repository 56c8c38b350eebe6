from __future__ import annotations

from pathlib import Path

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import StudyError
from dissensus.store.settings import (
    CROP,
    ModelSettings,
    ServeSettings,
    Settings,
    check_section,
    set_models,
    write_new,
)
from dissensus.store.settings import read_settings as read_any
from dissensus.tasks.labels.settings import LABELS, LabelSettings

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
printable = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)


def read_settings(path: Path) -> Settings:
    return read_any(path, {"labels": LabelSettings})


def write(path: Path, title: str, notes: list[str], classes: str) -> None:
    words = {"title": title, "notes": notes, "answers_from": "", "classes": classes}
    write_new(path, LabelSettings, "labels", LABELS, CROP, words)


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    write(tmp_path / "study.toml", "", [], "birds.txt")
    return tmp_path / "study.toml"


def model(target: str = "net.onnx", **preprocess) -> ModelSettings:
    return ModelSettings(backend="onnx", target=target, preprocess=preprocess)


def test_a_new_study_has_the_defaults(toml: Path) -> None:
    assert read_settings(toml) == LabelSettings(classes="birds.txt")


def test_the_settings_of_the_service_are_shown_with_their_defaults(toml: Path) -> None:
    before, _, after = toml.read_text().partition("# [serve]")
    shown, _, rest = after.partition("\n\n")
    toml.write_text(f"{before}[serve]{shown.replace(chr(10) + '# ', chr(10))}\n\n{rest}")
    assert set(tomlkit.parse(toml.read_text())["serve"]) == set(ServeSettings.model_fields)
    assert read_settings(toml) == LabelSettings(classes="birds.txt")


@given(anything, anything, st.lists(anything, max_size=3))
def test_words_of_any_spelling_come_back(tmp_path: Path, classes: str, title: str, notes: list[str]) -> None:
    write(tmp_path / "any.toml", title, notes, classes)
    assert read_settings(tmp_path / "any.toml") == LabelSettings(classes=classes, title=title, notes=tuple(notes))


def test_quotes_in_the_name_of_a_file_of_classes(tmp_path: Path) -> None:
    write(tmp_path / "study.toml", "", ['say "no" to {braces}'], 'my "best"\\classes.txt')
    assert read_settings(tmp_path / "study.toml").classes == 'my "best"\\classes.txt'


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[select]\nkk = 3", "select.kk"),
        ("colour = 3", "colour"),
        ("[select]\nk = 'many'", "select.k: Input should be a valid integer"),
        ("[select]\nk = 0", "select.k"),
        ("[select]\nk = 2.5", "select.k"),
        ("[select]\nconfidence = nan", "select.confidence"),
        ("[select]\nconfidence = 1.01", "select.confidence"),
        ("[judge]\nunsure = 1.0", "judge.unsure"),
        ("[serve]\nlease_minutes = 0", "serve.lease_minutes"),
        ("[serve]\ncontrol_rate = 0.6", "serve.control_rate"),
        ("[serve]\nrepeat_rate = nan", "serve.repeat_rate"),
        ("[serve]\nport = 70000", "serve.port"),
        ("[rank]\nsmoothing = inf", "rank.smoothing"),
        ("[rank]\nsmoothing = 0", "rank.smoothing"),
        ("[rank]\nlevel = nan", "rank.level"),
        ("[rank]\nresamples = 1", "rank.resamples"),
        ("[rank]\nresample = 100", "rank.resample: unknown; remove it"),
        ("format = 2", "this version of dissensus reads format 1, not 2"),
        ("task = 'sounds'", "task"),
        ("models = 3", "models"),
        ("[models.a]\nbackend = 'onnx'", "models.a.target"),
        ("[select", "not valid TOML"),
        ("select = 3", "select"),
        ("classes = 'again'", "not valid TOML"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "study.toml").write_text(f"classes = 'birds.txt'\n{line}\n")
    with pytest.raises(StudyError) as refused:
        read_settings(tmp_path / "study.toml")
    assert complaint in str(refused.value)
    assert str(tmp_path / "study.toml") in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_without_settings_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="dissensus init"):
        read_settings(tmp_path / "study.toml")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(b"classes = '\xff'")
    with pytest.raises(StudyError, match="not valid TOML"):
        read_settings(tmp_path / "study.toml")


def test_an_editor_that_adds_a_byte_order_mark_does_no_harm(toml: Path) -> None:
    toml.write_bytes(b"\xef\xbb\xbf" + toml.read_bytes())
    assert read_settings(toml).classes == "birds.txt"
    set_models(toml, {"a": model()})
    assert read_settings(toml).models == {"a": model()}


def test_adding_a_model_leaves_every_line_of_the_person(toml: Path) -> None:
    written = toml.read_text().replace("k = 10 ", "k = 12 # because we are few\n#")
    toml.write_text(written)
    set_models(toml, {"a": model()})
    set_models(toml, {"b": model(size=224, mean=[0.1, 0.2, 0.3])})
    assert toml.read_text().startswith(written.rstrip())
    assert read_settings(toml).select.k == 12
    assert read_settings(toml).models == {"a": model(), "b": model(size=224, mean=[0.1, 0.2, 0.3])}


@pytest.mark.parametrize("name", ["../x", "", "a/b", ".hidden", "a b"])
def test_a_name_that_could_not_be_a_files_is_refused(toml: Path, name: str) -> None:
    set_models(toml, {name: model()})
    with pytest.raises(StudyError, match="is not a valid model name"):
        read_settings(toml)


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]*", fullmatch=True), printable.map(model), min_size=1, max_size=3
    )
)
def test_models_of_any_name_and_target_come_back(tmp_path: Path, models: dict[str, ModelSettings]) -> None:
    write(tmp_path / "study.toml", "", [], "birds.txt")
    set_models(tmp_path / "study.toml", {"vgg16.bn-2": model("C:\\nets\\vgg.onnx")})
    set_models(tmp_path / "study.toml", {name: found for name, found in models.items() if name != "vgg16.bn-2"})
    expected = {"vgg16.bn-2": model("C:\\nets\\vgg.onnx")} | models | {"vgg16.bn-2": model("C:\\nets\\vgg.onnx")}
    assert read_settings(tmp_path / "study.toml").models == expected


@pytest.mark.parametrize(
    "written",
    [
        "classes = 'c'\n[models.x]\nbackend = 'file'\ntarget = 't'\n[rank]\nseed = 3\n",
        "classes = 'c'\n[models.x]\nbackend='a'\ntarget='t'\n[rank]\nseed = 3\n[models.y]\nbackend='b'\ntarget='t'\n",
        "classes = 'c'\n[rank]\nseed = 3\n[models]\n[models.x]\nbackend = 'file'\ntarget = 't'",
    ],
)
def test_models_are_added_wherever_the_person_put_the_others(tmp_path: Path, written: str) -> None:
    (tmp_path / "study.toml").write_text(written)
    before = read_settings(tmp_path / "study.toml")
    set_models(tmp_path / "study.toml", {"new": model()})
    after = read_settings(tmp_path / "study.toml")
    assert after.models == before.models | {"new": model()}
    assert after.rank.seed == 3


def test_models_written_in_one_line_are_left_alone_with_a_hint(tmp_path: Path) -> None:
    written = "classes = 'c'\nmodels = {x = {backend = 'file', target = 't'}}\n"
    (tmp_path / "study.toml").write_text(written)
    with pytest.raises(StudyError, match=r"\[models\.NAME\]"):
        set_models(tmp_path / "study.toml", {"new": model()})
    assert (tmp_path / "study.toml").read_text() == written


def test_settings_of_one_round_are_checked_like_those_of_the_study() -> None:
    settings = LabelSettings(classes="birds.txt")
    check_section(settings, "select", {"k": 5})
    with pytest.raises(StudyError, match=r"select\.k: "):
        check_section(settings, "select", {"k": 0})
    with pytest.raises(StudyError, match=r"kk"):
        check_section(settings, "select", {"kk": 3})
