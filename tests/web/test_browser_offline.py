"""Without a network: dozens of questions go on, the page says truly how many, and every answer arrives once."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import PATIENCE, all_sent, answer, link, looks_right, ready, role, screen, settled, start, stored
from pictured import add_settings
from playwright.sync_api import Page, expect
from served import Served

from dissensus.study import Study

OFFLINE = 30
HEAVY = """{
  const real = window.fetch;
  window.fetch = async (path, options) => {
    const reply = await real(path, options);
    if (!String(path).startsWith("/image/")) return reply;
    return new Response(new Blob([await reply.blob(), new Uint8Array(12 << 20)]), { headers: reply.headers });
  };
}"""
"""Every picture weighs 12 MB more: a PNG may have anything after its end."""
STOCKED = """(many) => Number(document.body.dataset.stock) >= many"""


@pytest.fixture(scope="module")
def service(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("offline") / "study"
    shutil.copytree(small_study, folder)
    add_settings(Study(folder), control_rate=0.0, repeat_rate=0.0)
    with Served(folder, "--answers", "99") as served:
        yield served


def has_stock(page: Page, many: int = OFFLINE) -> None:
    """Wait until so many questions can be answered without a network."""
    page.wait_for_function(STOCKED, arg=many, timeout=PATIENCE)
    settled(page)


def said(service: Served, name: str) -> Counter[str]:
    return Counter(row["ticket"] for row in stored(service, name))


def test_thirty_answers_without_a_network_and_all_arrive_once(
    serve: Callable[..., Served], study_folder: Path, visit: Callable[..., Page]
) -> None:
    service = serve(study_folder)  # one answer per question: whoever holds one keeps it from all others
    page = visit(link(service, "on a train"), "phone", may_fail=True)
    start(page)
    has_stock(page)
    page.context.set_offline(True)
    expect(role(page, "waiting")).to_contain_text("questions are ready")
    given = [answer(page, lambda: page.locator("[data-answer=yes]").tap()) for _ in range(OFFLINE)]
    expect(role(page, "waiting")).to_contain_text(f"{OFFLINE} answers not sent yet")
    expect(role(page, "waiting")).to_contain_text("Carry on")
    assert len(set(given)) == OFFLINE
    assert not said(service, "on a train")

    # Somebody else is not left without questions, though this person holds most of what is open.
    other = service.add("in the office")
    assert len(other.next(5)) == 5

    page.context.set_offline(False)
    all_sent(page)
    assert said(service, "on a train") == Counter(given)
    expect(role(page, "waiting")).to_be_empty()


def test_the_stock_ends_and_the_page_says_so(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "in a tunnel"), may_fail=True)
    start(page)
    has_stock(page, 5)
    page.context.set_offline(True)
    given = []
    while page.locator("body").get_attribute("data-screen") == "question":
        given.append(answer(page, lambda: page.keyboard.press("n")))
    screen(page, "waiting")
    expect(role(page, "waiting")).to_contain_text("No more questions until the connection is back")
    expect(role(page, "waiting")).not_to_contain_text("Carry on")
    looks_right(page, "offline-stock-ends")
    page.context.set_offline(False)
    all_sent(page)
    assert said(service, "in a tunnel") == Counter(given)


def test_a_reload_without_a_network_loses_no_answer(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(address := link(service, "impatient"), may_fail=True)
    start(page)
    has_stock(page, 3)
    page.context.set_offline(True)
    given = [answer(page, lambda: page.keyboard.press("n")) for _ in range(2)]
    expect(role(page, "waiting")).to_contain_text("Do not reload the page")
    with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
        page.reload()
    page.context.set_offline(False)
    page.goto(address)
    ready_or_idle(page)
    all_sent(page)
    assert said(service, "impatient") == Counter(given)


def ready_or_idle(page: Page) -> None:
    page.wait_for_function("() => ['question', 'idle'].includes(document.body.dataset.screen)", timeout=PATIENCE)


def test_large_pictures_are_kept_by_their_bytes(service: Served, visit: Callable[..., Page]) -> None:
    page = visit(link(service, "large"), script=HEAVY)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    start(page)
    has_stock(page, 5)
    page.keyboard.press("n")
    ready(page)
    settled(page)
    asked = {url for url in requests if "/image/" in url}
    assert 3 <= len(asked) <= 12  # of the 38 questions; small pictures are all fetched, as above
