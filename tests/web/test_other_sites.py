"""Pages of other sites, in a real browser that holds everybody's cookies: they can change, read and show nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from served import Client, Served

ATTACKS = {
    "form": """async ([url, body]) => {
      const form = document.createElement("form");
      Object.assign(form, { method: "POST", action: url, enctype: "text/plain", target: "there" });
      const field = document.createElement("input");
      const frame = document.createElement("iframe");
      Object.assign(field, { name: body.slice(0, -1) + ', "x": "', value: '"}' });
      frame.name = "there";
      form.append(field);
      document.body.append(frame, form);
      form.submit();
      await new Promise((done) => { frame.onload = done; setTimeout(done, 3000); });
      return "sent";
    }""",
    "simple fetch": """([url, body]) => fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body })
      .then((reply) => reply.type, (error) => error.name)""",
    "fetch with JSON": """([url, body]) => fetch(url, { method: "POST", credentials: "include", body,
      headers: { "content-type": "application/json" } }).then((reply) => reply.type, (error) => error.name)""",
    "beacon": """async ([url, body]) => {
      navigator.sendBeacon(url, new Blob([body], { type: "text/plain" }));
      await new Promise((done) => setTimeout(done, 500));
      return "sent";
    }""",
}
READ = """(url) => fetch(url, { credentials: "include" }).then((reply) => reply.text(), (error) => error.name)"""
LOADED = """(url) => new Promise((done) => {
  const image = new Image();
  image.onload = () => done("loaded");
  image.onerror = () => done("refused");
  image.src = url;
})"""
FRAMED = """(url) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.onload = () => { try { done(String(frame.contentDocument)); } catch (error) { done(error.name); } };
  frame.src = url;
  document.body.append(frame);
})"""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of another site on this machine, which shows an empty page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>elsewhere</title>")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@pytest.fixture
def victim(browser: Any, service: Served) -> Iterator[tuple[Any, Client, dict[str, Any]]]:
    """A browser in which an annotator and the owner are at home, the annotator, and a question they hold."""
    ada = service.add("ada")
    context = browser.new_context()
    for cookie in (ada.cookie, service.owner.cookie):
        name, _, value = cookie.partition("=")
        context.add_cookies(
            [{"name": name, "value": value, "url": service.address, "sameSite": "Strict", "httpOnly": True}]
        )
    yield context, ada, ada.next()[0]
    context.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])  # of the same site, since ports do not count, and not
def test_other_sites_change_read_and_show_nothing(
    service: Served, victim: tuple[Any, Client, dict[str, Any]], elsewhere: int, host: str
) -> None:
    context, ada, question = victim
    page = context.new_page()
    sent: list[Any] = []
    page.on("request", lambda request: sent.append(request))  # noqa: PLW0108
    page.goto(f"http://{host}:{elsewhere}/")
    answers = f'{{"answers": [{{"id": "from-elsewhere", "ticket": "{question["ticket"]}", "answer": "no"}}]}}'
    for attack in ATTACKS.values():
        page.evaluate(attack, [f"{service.address}/api/owner/pause", '{"paused": true}'])
        page.evaluate(attack, [f"{service.address}/api/answers", answers])
        page.evaluate(attack, [f"{service.address}/api/owner/annotators", '{"name": "eve"}'])
    for path in ("/api/owner/summary", "/api/next", "/api/owner/download/answers.csv"):
        assert page.evaluate(READ, service.address + path) == "TypeError"
    assert page.evaluate(LOADED, service.address + question["images"][0]) == "refused"
    summary = service.owner.get("/api/owner/summary").json
    assert summary["paused"] is False
    assert [(one["name"], one["answers"]) for one in summary["annotators"]] == [("ada", 0)]
    assert Client(service.address, ada.token).next()[0]["ticket"] == question["ticket"]
    if host == "127.0.0.1":
        assert any("cookie" in request.all_headers() for request in sent), "the browser sent no cookie in this test"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("path", ["/", "/owner", "/api/me", "/static/icon.svg"])
def test_no_site_can_put_our_pages_into_a_frame(
    service: Served, victim: tuple[Any, Client, dict[str, Any]], elsewhere: int, host: str, path: str
) -> None:
    page = victim[0].new_page()
    page.goto(f"http://{host}:{elsewhere}/")
    page.evaluate(FRAMED, service.address + path)
    is_refused(page)


def is_refused(page: Any) -> None:
    """The browser shows its own page of errors in the frame."""
    _, frame = page.frames
    for _ in range(50):
        if frame.url:
            break
        page.wait_for_timeout(100)
    assert frame.url.startswith("chrome-error:")
