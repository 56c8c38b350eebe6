"""Script in names and comments, in a real browser: it is shown as text and runs nowhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from browsing import answer, ready, role, start
from pictured import add_settings, ask
from playwright.sync_api import Page, expect
from served import Served, draw_picture

from dissensus.study import Study

IMAGE = '<img src=x onerror="window.hacked=1">'
SCRIPT = "\"'><script>window.hacked=1</script>"
LINK = "javascript:window.hacked=1"
TEMPLATE = "${window.hacked=1}{{window.hacked=1}}"
TRACES = """() => [
  window.hacked ?? null,
  document.querySelectorAll("[onerror], [onload], [onclick], img[src='x'], a[href^='javascript:'], main script").length,
]"""


def hostile_study(root: Path) -> Study:
    """A study in which every text that somebody may choose is script."""
    classes = [IMAGE, SCRIPT, LINK, TEMPLATE]
    (root / "pool").mkdir()
    names = [f"{text.replace('/', '')}{number}.png" for number, text in enumerate(classes * 2)]
    for number, name in enumerate(names):
        draw_picture(root / "pool" / name, number)
    (root / "classes.txt").write_text("\n".join(classes))
    study = Study.init(root / "study", classes=str(root / "classes.txt"), title=IMAGE)
    study.pool([root / "pool"])
    add_settings(study, public_title=IMAGE, instructions=[IMAGE, SCRIPT], control_rate=0.0, repeat_rate=0.0)
    ask(study, [{"kind": "contains", "item": names[n], "label": n} for n in range(2)])
    ask(study, [{"kind": "choice", "first": names[2], "second": names[3], "ask": IMAGE}])
    ask(
        study,
        [{"kind": "pick", "item": names[4], "ask": SCRIPT}, {"kind": "pick", "item": names[5], "options": [0, 1]}],
    )
    ask(study, [{"kind": "contains", "item": names[6], "label": 0, "expected": "no", "note": IMAGE}], "training")
    return study


def is_unharmed(page: Page) -> None:
    assert page.evaluate(TRACES) == [None, 0]


def test_an_annotators_page_shows_script_as_text(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    service = serve(hostile_study(tmp_path).folder.root)
    page = visit(f"{service.address}/#{service.add(IMAGE).token}")
    expect(page.get_by_text(SCRIPT).first).to_be_visible()
    is_unharmed(page)
    start(page)
    expect(role(page, "title")).to_have_text(IMAGE)
    practise(page)
    seen = set()
    while page.locator("body").get_attribute("data-screen") == "question":
        seen.add(role(page, "question").inner_text())
        for search in page.locator("input.search:visible").all():
            search.fill("window")
        is_unharmed(page)
        answer(page, page.locator("[data-answer]:visible").first.click)
    is_unharmed(page)
    for text in (IMAGE, SCRIPT):
        assert any(text in words for words in seen)


def practise(page: Page) -> None:
    """Answer the training question with a hostile comment, and read what is said about it."""
    role(page, "comment-open").first.click()
    page.locator("#comment").fill(SCRIPT)
    role(page, "comment-done").click()
    page.locator("[data-answer]:visible").first.click()
    expect(role(page, "feedback-note")).to_have_text(IMAGE)
    is_unharmed(page)
    role(page, "feedback-next").click()
    role(page, "go").click()
    ready(page)


def test_the_dashboard_shows_script_as_text(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    service = serve(hostile_study(tmp_path).folder.root)
    for name in (IMAGE, LINK, TEMPLATE, "\"'><svg onload=window.hacked=1>"):
        person = service.add(name)
        for question in person.next(6):
            kind = question["kind"]
            person.answer(question["ticket"], {"contains": "yes", "choice": "left", "pick": 0}[kind], comment=SCRIPT)
    excluded: dict[str, Any] = {"is_excluded": True, "reason": SCRIPT}
    path = f"/api/owner/annotators/{LINK.replace(':', '%3A')}/exclusion"
    assert service.owner.post(path, excluded).status == 204
    page = visit(f"{service.address}/owner#{service.owner_token}")
    expect(page.get_by_text(IMAGE).first).to_be_visible()
    expect(page.get_by_text(SCRIPT).first).to_be_visible()
    expect(page.get_by_text(LINK).first).to_be_visible()
    page.wait_for_load_state("networkidle")
    is_unharmed(page)
