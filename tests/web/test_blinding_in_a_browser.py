"""An annotator's browser, with every request and response looked through for what it must not know."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from blinded import telltale_study, telltales
from browsing import all_sent, answer, start
from playwright.sync_api import expect
from served import Served


def test_nothing_tells_in_a_browser(serve: Callable[..., Served], browser: Any, tmp_path: Path) -> None:
    study = telltale_study(tmp_path, has_training=False, items=12)
    service = serve(study.folder.root)
    seen: list[tuple[str, bytes]] = []
    page = browser.new_page()
    page.on("response", lambda response: seen.append((response.url, everything_in(response))))
    page.goto(f"{service.address}/#{service.add('ada').token}")
    start(page)
    kinds = set()
    while page.locator("body").get_attribute("data-screen") == "question":
        kinds.add(page.locator("[data-role=question]").get_attribute("data-kind"))
        answer(page, page.locator("[data-answer]:visible").first.click)
        expect(page.locator("body")).to_have_attribute("data-screen", re.compile("question|idle"))
    all_sent(page)
    assert kinds == {"contains", "choice", "pick", "label", "slider", "rating", "frames"}
    assert len([url for url, _ in seen if "/image/" in url]) > 20
    for url, everything in seen:
        assert not telltales(url.encode() + everything), url
    kept = page.evaluate(
        "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
    )
    document = page.content()
    assert not telltales(kept.encode() + document.encode())
    page.close()


def everything_in(response: Any) -> bytes:
    """Headers and body of a response, and of the request that it answers."""
    headers = {**response.request.all_headers(), **response.all_headers()}
    sent = (response.request.post_data or "").encode()
    try:
        return json.dumps(headers).encode() + sent + response.body()
    except Exception:  # a reply without a body has none to be read
        return json.dumps(headers).encode() + sent
