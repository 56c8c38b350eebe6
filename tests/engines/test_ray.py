"""The Ray engine on a real cluster of several nodes: the same results as the local engine, whoever dies meanwhile."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clusters import Totalling, cluster

from dissensus.contents.rows import ROOM
from dissensus.engines import engine_named, ray_cluster
from dissensus.engines.extending import ExtendingEngine
from dissensus.engines.local import reduce
from dissensus.errors import EngineError, SelectionError
from dissensus.processors import cores
from dissensus.progress import silent
from tests.kept_parts import Kept

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = pytest.mark.slow
SIZE = 2_050


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    with cluster(2) as made:
        yield made


@pytest.fixture
def engine(two_nodes: Any) -> Any:
    return engine_named(f"ray:{two_nodes.address}")


def folder(tmp_path: Path, name: str) -> Path:
    made = tmp_path / name
    made.mkdir()
    return made


def same(one: Any, other: Any) -> bool:
    return (one.total, one.count) == (other.total, other.count) and np.array_equal(one.largest, other.largest)


def when(is_so: Callable[[], bool], act: Callable[[], None]) -> threading.Thread:
    """Do something as soon as something is so."""

    def wait() -> None:
        while not is_so():
            time.sleep(0.02)
        act()

    made = threading.Thread(target=wait, daemon=True)
    made.start()
    return made


def test_the_same_as_on_this_machine_on_both_nodes(engine: Any, tmp_path: Path) -> None:
    expected = reduce(Totalling(folder(tmp_path, "local")), SIZE, "x")
    told: list[tuple[int, int]] = []
    passed = Totalling(folder(tmp_path, "ray"), pause=0.05)
    parts = Kept()
    found = engine.reduce(passed, SIZE, "x", lambda _, done, total: told.append((done, total)), parts)
    assert same(found, expected)
    assert sorted(passed.scanned()) == list(range(0, SIZE, 100))  # each chunk once
    assert len(passed.processes()) == 2
    assert os.getpid() not in passed.processes()
    assert told[0] == (100, SIZE)
    assert told[-1] == (SIZE, SIZE)
    assert len(parts) == 21
    # a pass that stopped goes on, on whichever engine
    for number in (3, 7):
        del parts[number]
    rest = Totalling(folder(tmp_path, "rest"))
    assert same(engine.reduce(rest, SIZE, "x", silent, parts), expected)
    assert sorted(rest.scanned()) == [300, 700]


def test_only_what_was_added_to_a_pool_is_scanned(engine: Any, tmp_path: Path) -> None:
    expected = reduce(Totalling(folder(tmp_path, "whole")), SIZE, "x")
    is_added = np.random.default_rng(2).random(SIZE) < 0.3

    class Earlier(Totalling):
        """The same numbers without those that were added."""

        def load(self, rows: range) -> np.ndarray:
            return super().load(range(SIZE))[~is_added][rows.start : rows.stop]

    before = Earlier(folder(tmp_path, "before"))
    kept = before.dump(reduce(before, int((~is_added).sum()), "x"))
    passed = Totalling(folder(tmp_path, "added"))
    engine.passes.clear()
    growing = ExtendingEngine(engine, lambda _: "it", {"it": kept}, is_added)
    assert same(growing.reduce(passed, SIZE, "x", silent), expected)
    (done,) = engine.passes
    assert done.items == is_added.sum()
    assert os.getpid() not in passed.processes()


def test_what_the_work_raises_is_raised_in_one_line(engine: Any, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match=r"^item 500 is wrong: correct it$"):
        engine.reduce(Totalling(folder(tmp_path, "x"), fails_at=500), SIZE, "x", silent)


def test_work_that_kills_every_worker_is_given_up(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "RETRIES", 1)
    parts = Kept()
    with pytest.raises(EngineError, match="failed 2 times"):
        engine.reduce(Totalling(folder(tmp_path, "x"), dies_at=500), SIZE, "x", silent, parts)
    assert {0, 1} <= {*parts} <= {0, 1, 2, 3, 4}  # not what the worker had just done


def test_one_cluster_at_a_time(engine: Any) -> None:
    with pytest.raises(EngineError, match="already uses the Ray cluster at"):
        engine_named("ray:192.0.2.9:6379")


def test_a_killed_worker_costs_only_its_chunks(engine: Any, tmp_path: Path) -> None:
    expected = reduce(Totalling(folder(tmp_path, "local")), SIZE, "x")
    passed = Totalling(folder(tmp_path, "ray"), pause=0.1)

    def kill() -> None:
        os.kill(min(passed.processes()), signal.SIGKILL)

    killing = when(lambda: len(passed.scanned()) > 5, kill)
    assert same(engine.reduce(passed, SIZE, "x", silent), expected)
    killing.join(10)
    assert len(passed.scanned()) <= 21 + 2
    assert len(passed.processes()) >= 3


def test_workers_are_made_once_and_tasks_come_back_in_order(engine: Any, tmp_path: Path) -> None:
    made = folder(tmp_path, "made")

    def worker() -> Callable[[int], tuple[int, int]]:
        (made / str(os.getpid())).touch(exist_ok=False)  # once
        return lambda number: (number * number, os.getpid())

    found = list(engine.map(worker, range(20)))
    assert [(task, square) for task, (square, _) in found] == [(n, n * n) for n in range(20)]
    assert {str(process) for _, (_, process) in found} == {path.name for path in made.iterdir()}
    assert 1 <= len(list(made.iterdir())) <= 2  # one that starts late may find nothing left to do
    assert [task for task, _ in engine.map(worker, range(1), most=1)] == [0]
    assert len(list(made.iterdir())) <= 3  # no worker without a task


def test_a_dead_node_costs_only_its_chunks_and_no_node_at_all_ends_the_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "PATIENCE", 4.0)
    expected = reduce(Totalling(folder(tmp_path, "local")), SIZE, "x")
    ray.shutdown()
    with cluster(2) as made:
        engine = engine_named(f"ray:{made.address}")
        first, second = made.workers
        passed = Totalling(folder(tmp_path, "one"), pause=0.5)
        killing = when(lambda: len(passed.scanned()) > 5, first.kill_raylet)
        assert same(engine.reduce(passed, SIZE, "x", silent), expected)
        killing.join(10)
        when(lambda: sum(node["Alive"] for node in ray.nodes()) == 2, lambda: None).join(30)
        assert sum(node["Alive"] for node in ray.nodes()) == 2  # the head, and the other one
        # now that one dies, too
        passed, parts = Totalling(folder(tmp_path, "none"), pause=0.7), Kept()
        killing = when(lambda: len(passed.scanned()) > 5, second.kill_raylet)
        start = time.monotonic()
        with pytest.raises(EngineError, match="all nodes of the Ray cluster are dead"):
            engine.reduce(passed, SIZE, "x", silent, parts)
        assert time.monotonic() - start < 60
        killing.join(10)
        with pytest.raises(EngineError, match="all nodes of the Ray cluster are dead"):
            list(engine.map(lambda: lambda number: number, range(3)))
        # a new node finishes what is left
        made.add_node(num_cpus=1)
        rest = Totalling(folder(tmp_path, "rest"))
        assert same(engine.reduce(rest, SIZE, "x", silent, parts), expected)
        assert 0 < len(rest.scanned()) < 21


def test_many_workers_may_die_but_a_task_that_kills_them_is_given_up(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "RETRIES", 1)
    notes = folder(tmp_path, "notes")

    def worker() -> Callable[[int], int]:
        def work(number: int) -> int:
            note = notes / str(number)
            if number == 9 or not note.exists():
                note.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return number

        return work

    assert list(engine.map(worker, range(4))) == [(number, number) for number in range(4)]
    with pytest.raises(EngineError, match="failed 2 times"):
        list(engine.map(worker, [9]))


def test_workers_of_a_dead_node_are_not_waited_for(tmp_path: Path) -> None:
    ray.shutdown()
    notes = folder(tmp_path, "notes")

    def worker() -> Callable[[int], int]:
        def work(number: int) -> int:
            (notes / f"{number}-{os.getpid()}").touch()
            time.sleep(0.7)
            return number * number

        return work

    with cluster(2) as made:
        engine: Any = engine_named(f"ray:{made.address}")
        killing = when(lambda: len(list(notes.iterdir())) > 3, made.workers[0].kill_raylet)
        found = list(engine.map(worker, range(30)))
        killing.join(10)
    assert found == [(number, number * number) for number in range(30)]


def test_nodes_that_join_get_workers_and_without_a_gpu_models_that_need_one_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "PATIENCE", 4.0)
    ray.shutdown()
    notes = folder(tmp_path, "notes")

    def worker() -> Callable[[int], int]:
        def work(number: int) -> int:
            (notes / f"{number}-{os.getpid()}").touch()
            time.sleep(0.7)
            return os.getpid()

        return work

    with cluster(1) as made:
        host, _, port = made.address.rpartition(":")
        engine: Any = engine_named(f"ray:localhost:{port}")
        assert engine_named(f"ray:localhost:{port}").address == f"localhost:{port}"  # again, by the same name
        engine_named(f"ray:{host}:{port}")
        results = engine.map(worker, range(30))
        processes = {next(results)[1]}
        made.add_node(num_cpus=1)
        assert len(processes | {process for _, process in results}) == 2
        gpu, begun = made.add_node(num_cpus=1, num_gpus=1), len(list(notes.iterdir()))
        killing = when(lambda: len(list(notes.iterdir())) > begun + 1, gpu.kill_raylet)
        with pytest.raises(EngineError, match="all nodes of the Ray cluster that have a GPU are dead"):
            list(engine.map(worker, range(100), uses_gpus=True))
        killing.join(10)


def test_without_a_head_what_is_under_way_ends_and_the_rest_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "HEADLESS", 3.0)
    ray.shutdown()
    with cluster(2) as made:
        engine = engine_named(f"ray:{made.address}")
        passed, parts = Totalling(folder(tmp_path, "x"), pause=1.5), Kept()
        killing = when(lambda: len(passed.scanned()) > 5, made.head_node.kill_gcs_server)
        with pytest.raises(EngineError, match=f"the head of the Ray cluster at {made.address} is gone"):
            engine.reduce(passed, SIZE, "x", silent, parts)
        killing.join(10)
        assert 4 <= len(parts) < 21


@pytest.mark.parametrize("host", ["192.168..5", "x" * 300])
def test_a_host_that_cannot_exist(host: str) -> None:
    ray.shutdown()
    with pytest.raises(EngineError, match=r"there is no Ray cluster at .*UnicodeError"):
        engine_named(f"ray:{host}:6379")


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220 mail ready\r\n"])
def test_something_else_at_the_address_is_not_taken_for_a_cluster(says: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    ray.shutdown()
    monkeypatch.setattr(ray_cluster, "CONNECTING", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        threading.Thread(target=lambda: server.accept()[0].sendall(says), daemon=True).start()
        start = time.monotonic()
        with pytest.raises(EngineError, match=rf"there is no Ray cluster at {address} \("):
            engine_named(f"ray:{address}")
        assert time.monotonic() - start < 10


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="there is no IPv6 here")
def test_a_cluster_may_have_an_ipv6_address() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        says = bytes(3) + ray_cluster.SETTINGS + bytes(5)
        threading.Thread(target=lambda: server.accept()[0].sendall(says), daemon=True).start()
        ray_cluster._require_listener(f"[::1]:{server.getsockname()[1]}")


def test_what_this_process_does_on_a_signal_stays_as_it_is(two_nodes: Any) -> None:
    ray.shutdown()
    kept = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    engine_named(f"ray:{two_nodes.address}")
    assert {one: signal.getsignal(one) for one in kept} == kept


def test_the_workers_of_a_machine_share_the_memory_for_row_groups(engine: Any) -> None:
    def room(_: int) -> int:
        from dissensus.contents.rows import SHELF

        return SHELF.room

    assert [found for _, found in engine.map(lambda: room, [0])] == [ROOM // cores()]


def test_a_node_that_does_not_see_the_study_says_so(two_nodes: Any, tmp_path: Path) -> None:
    engine: Any = engine_named(f"ray:{two_nodes.address}", tmp_path / "elsewhere")
    with pytest.raises(EngineError, match=rf"^the node \S+ does not see {tmp_path / 'elsewhere'}: put the study"):
        engine.reduce(Totalling(folder(tmp_path, "x")), SIZE, "x", silent)
    with pytest.raises(EngineError, match="does not see"):
        list(engine.map(lambda: lambda number: number, range(3)))


@pytest.mark.parametrize("name", ["spark", "local:x", ""])
def test_an_engine_that_does_not_exist(name: str) -> None:
    with pytest.raises(EngineError, match="unknown engine"):
        engine_named(name)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "ray://127.0.0.1:1", "127.0.0.1:99999999"])
def test_a_cluster_that_is_not_there_is_reported_soon(address: str) -> None:
    ray.shutdown()
    start = time.monotonic()
    with pytest.raises(EngineError, match=r"Ray cluster"):
        engine_named(f"ray:{address}")
    assert time.monotonic() - start < 20
