from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dissensus.discrepancy.labels import class_distances
from dissensus.errors import ClassesError
from dissensus.records import Classes
from dissensus.store.classes import classes_of, read_classes

DOCUMENT = {
    "classes": ["n2", "n3"],
    "nodes": {
        "n1": {"lemmas": ["bird"], "gloss": "", "parents": []},
        "n2": {"lemmas": ["duck", "drake"], "gloss": "swims", "parents": ["n1"]},
        "n3": {"lemmas": ["coot"], "gloss": "", "parents": ["n1"]},
    },
}


def nodes(fields: str) -> str:
    """A document of two classes, one with these fields."""
    return f'{{"classes": ["a", "b"], "nodes": {{"a": {{{fields}}}, "b": {{"lemmas": ["b"]}}}}}}'


def classes_in(path: Path, content: str | bytes, taxonomy: str | None = None) -> Classes:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    above = None
    if taxonomy is not None:
        above = path.with_name("taxonomy.csv")
        above.write_bytes(taxonomy.encode())
    return classes_of(read_classes(str(path), above))


def test_a_list_of_names_in_label_order(tmp_path: Path) -> None:
    classes = classes_in(tmp_path / "c.txt", "\ufeffgrey crane\r\n\n  Ente \nzebra")
    assert classes.names == ("grey crane", "Ente", "zebra")
    assert classes.taxonomy is None


def test_a_table_with_ids_synonyms_and_glosses(tmp_path: Path) -> None:
    classes = classes_in(
        tmp_path / "c.csv", '\ufeffid,name,synonyms,gloss\nn1, duck ,drake; mallard,"swims, flies"\n\nn2,coot,,\n'
    )
    assert (classes.names, classes.ids) == (("duck", "coot"), ("n1", "n2"))
    assert classes.glosses == ("swims, flies", "")
    assert [classes.index_of(word) for word in ("duck", "n1", "MALLARD", "0", 0, "coot", "n2")] == [0] * 5 + [1] * 2


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_document_with_its_taxonomy(tmp_path: Path, mark: str) -> None:
    classes = classes_in(tmp_path / "c.json", mark + json.dumps(DOCUMENT))
    assert classes.names == ("duck", "coot")
    assert class_distances(classes, "hops").tolist() == [[0, 2], [2, 0]]


def test_a_taxonomy_beside_a_list(tmp_path: Path) -> None:
    edges = "child,parent\nduck,bird\ncoot, bird\nbird,thing\ncar,thing\ncar,thing\n"
    classes = classes_in(tmp_path / "c.txt", "duck\ncoot\ncar", edges)
    assert class_distances(classes, "hops").tolist() == [[0, 2, 3], [2, 0, 3], [3, 3, 0]]
    assert class_distances(classes, "weighted-exactly").tolist() == [[0, 1, 2.5], [1, 0, 2.5], [2.5, 2.5, 0]]


def test_a_taxonomy_may_speak_of_classes_by_name_or_id_and_a_class_may_lie_above_others(tmp_path: Path) -> None:
    edges = "child,parent\nduck,bird\nn3,n1\n"
    classes = classes_in(tmp_path / "c.csv", "id,name\nn1,bird\nn2,duck\nn3,coot\n", edges)
    np.testing.assert_array_equal(class_distances(classes, "hops"), [[0, 1, 1], [1, 0, 2], [1, 2, 0]])


def test_two_classes_of_one_name_are_told_apart_by_what_lies_above(tmp_path: Path) -> None:
    edges = "child,parent\nn1,bird\nn2,machine\nbird,thing\nmachine,thing\n"
    classes = classes_in(tmp_path / "c.csv", "id,name\nn1,crane\nn2,crane\n", edges)
    assert classes.names == ("crane (bird)", "crane (machine)")
    with pytest.raises(ClassesError, match=r"'crane \(bird\)' or 'crane \(machine\)': use the full name, id or number"):
        classes.index_of("crane")
    assert classes.index_of("n2") == 1


def test_classes_that_cannot_be_told_apart_by_name_go_by_id(tmp_path: Path) -> None:
    edges = "child,parent\nn1,bird\nn2,bird\n"
    assert classes_in(tmp_path / "c.csv", "id,name\nn1,crane\nn2,crane\n", edges).names == ("n1", "n2")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("c.txt", "", "between 2 and 65,534 classes, got 0"),
        ("c.txt", "only one\n", "got 1"),
        ("c.txt", "a\nb\na\n", "'a' is listed twice"),
        ("c.txt", b"caf\xe9\nb\n", "cannot read"),
        ("c.csv", "", "no column 'name'"),
        ("c.csv", "name\n", "no column 'name', or no rows"),
        ("c.csv", "label\na\nb\n", "no column 'name'"),
        ("c.csv", "id,name\nn1,a\nn1,b\n", "'n1' is listed twice"),
        ("c.csv", "id,name\nn1,a\nn2,\n", "line 3: the class has no name"),
        ("c.csv", "id,name\nn1,a\nn2\n", "line 3: the class has no name"),
        ("c.csv", b"name\ncaf\xe9\nb\n", "cannot read"),
        ("c.csv", "name\nlion, puma\nb\n", "line 2: it has more cells than columns"),
        ("c.csv", 'name\n"lion\npuma"\nb\n', "use printable text"),
        ("c.csv", "name\n\x1b[31mred\nb\n", "use printable text"),
        ("c.txt", "a\0\nb\n", "use printable text"),
        ("c.json", "", "not a valid classes document"),
        ("c.json", "[]", "not a valid classes document"),
        ("c.json", '{"classes": [], "nodes": []}', "not a valid classes document"),
        ("c.json", '{"classes": ["a", "b"], "nodes": {}}', "does not define 'a'"),
        ("c.json", "[" * 100_000, "not a valid classes document"),
        ("c.json", '{"classes": "ab", "nodes": {"a": {"lemmas": ["a"]}, "b": {"lemmas": ["b"]}}}', "classes: Input"),
        ("c.json", nodes('"lemmas": {"x": 1}'), "nodes.a.lemmas: Input should be a valid array"),
        ("c.json", nodes('"lemmas": "abc"'), "nodes.a.lemmas: Input should be a valid array"),
        ("c.json", nodes('"lemmas": [["x"]]'), "nodes.a.lemmas.0: Input should be a valid string"),
        ("c.json", nodes('"lemmas": [1]'), "nodes.a.lemmas.0: Input should be a valid string"),
        ("c.json", nodes('"lemmas": [""]'), "nodes.a.lemmas.0: String should have at least 1 character"),
        ("c.json", nodes('"lemmas": ["x"], "gloss": 3'), "nodes.a.gloss: Input should be a valid string"),
        ("c.json", nodes('"lemmas": ["x"], "parents": "b"'), "nodes.a.parents: Input should be a valid array"),
        ("c.json", nodes('"lemmas": ["\\ud800"]'), "not a valid classes document (Invalid JSON"),
        ("c.json", nodes('"lemmas": ["x"], "gloss": "\\udfff"'), "not a valid classes document (Invalid JSON"),
        ("c.json", '{"classes": ["a"], "nodes": {"a\\nb": 3}}', "nodes.a b: Input should be an object"),
        ("c.json", '{"classes": ["a"], "nodes": {"a": {"lemmas": [], "parents": []}}}', "does not define 'a'"),
        (
            "c.json",
            '{"classes": ["a"], "nodes": {"a": {"lemmas": ["a"], "parents": ["z"]}}}',
            "does not define 'z'",
        ),
    ],
)
def test_a_file_that_holds_no_classes_is_refused_in_one_line(
    tmp_path: Path, name: str, content: str | bytes, complaint: str
) -> None:
    with pytest.raises(ClassesError) as refused:
        classes_in(tmp_path / name, content)
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_joined_emoji_and_marks_of_direction_are_names(tmp_path: Path) -> None:
    names = ("\U0001f408\u200d\u2b1b", "\u200fחתול")
    assert classes_in(tmp_path / "c.txt", "\n".join(names)).names == names
    assert classes_of(read_classes(names)).names == names


@pytest.mark.parametrize(
    ("edges", "complaint"),
    [
        ("child,parent\nduck,bird\n", "has no parent for the class 'coot'"),
        ("child,parent\nduck,bird\ncoott,bird\n", "has no parent for the class 'coot'"),
        ("child,parent\nduck,bird\ncoot,\n", "line 3: child or parent is empty"),
        ("child,parent\nduck,bird\ncoot\n", "line 3: child or parent is empty"),
        ("child,above\nduck,bird\n", "no column 'parent'"),
        ("", "no column 'child'"),
    ],
)
def test_a_taxonomy_that_misses_something_is_refused(tmp_path: Path, edges: str, complaint: str) -> None:
    with pytest.raises(ClassesError) as refused:
        classes_in(tmp_path / "c.txt", "duck\ncoot\n", edges)
    assert complaint in str(refused.value)


@pytest.mark.parametrize("source", ["none.txt", "none", "."])
def test_a_source_that_is_no_file_names_what_can_be_given(source: str) -> None:
    with pytest.raises(ClassesError, match="imagenet, voc, imagenet-vid, ytbb, or a"):
        read_classes(source)


def test_a_taxonomy_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a\nb\n")
    with pytest.raises(ClassesError, match=r"cannot read .*none\.csv"):
        read_classes(str(tmp_path / "c.txt"), tmp_path / "none.csv")


@pytest.mark.parametrize("source", ["imagenet", "voc"])
def test_classes_of_the_package_take_no_other_taxonomy(tmp_path: Path, source: str) -> None:
    with pytest.raises(ClassesError, match="comes with its own taxonomy"):
        read_classes(source, tmp_path / "edges.csv")


def test_as_many_classes_as_16_bits_hold_beside_the_mark_for_missing(tmp_path: Path) -> None:
    names = [f"class {number}" for number in range(65_535)]
    assert len(classes_in(tmp_path / "c.txt", "\n".join(names[:-1]))) == 65_534
    with pytest.raises(ClassesError, match="got 65535"):
        classes_in(tmp_path / "c.txt", "\n".join(names))


def test_text_is_a_name_before_it_is_a_number_and_a_number_is_an_index(classes: Classes) -> None:
    assert [classes.index_of(label) for label in ("1", "0", 1, 0, "2", 2, np.uint16(1))] == [0, 1, 1, 0, 2, 2, 1]
    assert [classes.index_of(label) for label in ("n1", "ONE", " zero ", "KÖNIGS-PINGUIN, GROSS")] == [0, 0, 1, 2]


@pytest.mark.parametrize("label", ["cat", "3", 3, -1, "-1", "1.5", 1.5, "", None, True])
def test_what_names_no_class_is_refused(classes: Classes, label: object) -> None:
    with pytest.raises(ClassesError, match="this study has 3 classes"):
        classes.index_of(label)


def test_a_name_with_blanks_around_it_is_found_by_itself() -> None:
    classes = Classes((" cat", "cat", "dog "))
    assert [classes.index_of(name) for name in classes.names] == [0, 1, 2]
