"""The exported file in Chromium, opened by a double click: offline, and asking nobody."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from hostile import FILE_NAME, TEXTS, TITLE, assert_harmless, assert_literal
from hostile import capture as hostile_capture

import softlookup as sl
from softlookup.captures import shipped
from softlookup.shelf import find
from softlookup.viewer.export import prepare

pytestmark = pytest.mark.browser

ROOT = "[data-softlookup]"


@pytest.fixture
def open_file(chromium, tmp_path):
    """Export, open the file offline; afterwards it must have asked for nothing and stayed quiet."""
    opened = []

    def open_file(look, *, hash="", name="page.html", quiet=True, alone=True, **how):  # noqa: A002
        file = sl.export_html(look, tmp_path / name, **how)
        context = chromium.new_context(offline=True)
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        address = file.as_uri()
        opened.append((context, page, address, asked, said, quiet, alone))
        page.goto(address + hash)
        page.wait_for_selector(f"{ROOT}[data-state=ready]", state="attached")
        return page

    yield open_file
    for context, _, address, asked, said, quiet, alone in opened:
        context.close()
        others = [url for url in asked if not url.startswith(("data:", "blob:"))]
        assert not alone or {url.partition("#")[0] for url in others} == {address}
        if quiet:
            assert said == []


def test_the_lesson_in_a_file(open_file):
    page = open_file("lesson")
    page.keyboard.press("a")
    row = page.locator("table.ledger tbody tr").filter(has_text="weight").first
    assert row.locator("td").all_inner_texts()[:3] == ["0.401", "0.198", "0.401"]
    assert page.title() == "Lesson - softlookup"
    words = page.inner_text(".turn-part")
    assert "asked and checked by the program, not by a file. Run softlookup show." in words
    assert page.locator(".offline").count() == 0


def test_a_changed_number_is_computed_on(open_file):
    page = open_file("lesson")
    page.keyboard.press("a")
    page.click("button[data-arg='query:0:0']")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    look = sl.Lookup([[2, 0]], *[np.array([[1.0, 0], [0, 1], [1, 1]])] * 2)
    row = page.locator("table.ledger tbody tr").filter(has_text="weight").first
    expected = [f"{weight:.3f}" for weight in look.weights()[0]]
    assert row.locator("td").all_inner_texts()[:3] == expected


def test_a_file_keeps_its_place_in_its_address(open_file):
    page = open_file("lesson", hash="#q=1&step=weight")
    assert "q=1" in page.url
    page.reload()
    page.wait_for_selector(f"{ROOT}[data-state=ready]", state="attached")
    assert "step=weight" in page.url


COLOURS = """() => {
  const shadow = document.querySelector("[data-softlookup]").shadowRoot;
  return [...shadow.querySelectorAll("canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}"""


def test_a_head_of_a_model_in_a_file(open_file):
    layer = shipped.load("sentence").layer(4)
    page = open_file("sentence", hash="#v=heads&L=1&h=2&q=6", layers=[0, 4], heads=[1, 3, 7])
    assert page.inner_text("#head-title") == "Layer 4, head 7"
    assert max(page.evaluate(COLOURS)) > 20  # the grid is drawn
    record = layer.trace([6], head=7).record(0, top=12)
    row = page.locator("table.ledger tbody tr").filter(has_text="weight").first
    shown = row.locator("td").all_inner_texts()
    assert [float(text.split()[0]) for text in shown[:5]] == pytest.approx(
        record["weights"][:5], abs=6e-4
    )


HARM = (
    "document.body.innerHTML = '<b>x</b>'",
    "document.body.outerHTML = '<b>x</b>'",
    "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
    "document.write('<b>x</b>')",
    "document.body.setAttribute('onclick', 'x()')",
    "document.createElement('script').src = 'data:text/javascript,1'",
    "document.createElement('script').text = '1'",
    "document.createElement('iframe').srcdoc = '<b>x</b>'",
    "new DOMParser().parseFromString('<b>x</b>', 'text/html')",
    "document.createRange().createContextualFragment('<b>x</b>')",
    "eval('1')",
    "new Function('1')",
    "setTimeout('1')",
    "trustedTypes.createPolicy('any', { createHTML: (text) => text })",
)


@pytest.mark.parametrize("where", ["page", "file"])
def test_the_browser_refuses_markup_and_code_from_texts(bundle_page, open_file, where):
    page = bundle_page if where == "page" else open_file("lesson", quiet=False)
    for line in HARM:
        # in a task of the page's own: a debugger's may evaluate anything
        refused = page.evaluate(
            f"""() => new Promise((done) => setTimeout(() => {{
                  try {{ {line}; done(""); }} catch (error) {{ done(error.name); }}
                }}))"""
        )
        assert refused in ("TypeError", "EvalError"), line


@pytest.fixture
def counter():
    """An address of this machine, and how often anybody asked there."""
    asked = []

    class Counting(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(204)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        def do_POST(self):
            self.do_GET()

        def do_OPTIONS(self):
            self.do_GET()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Counting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", asked
        server.shutdown()
        thread.join()


LEAKS = """async (url) => {
  const tried = {
    fetch: () => fetch(url, { mode: "no-cors" }),
    beacon: () => navigator.sendBeacon(url, "x") || Promise.reject(),
    image: () => loaded(Object.assign(new Image(), { src: url })),
    sheet: () => {
      const link = document.createElement("link");
      Object.assign(link, { rel: "stylesheet", href: url });
      document.head.append(link);
      return loaded(link);
    },
    socket: () => loaded(new WebSocket(url.replace("http", "ws")), "onopen"),
    events: () => loaded(new EventSource(url), "onopen"),
    frame: () => {
      const frame = document.createElement("iframe");
      frame.src = url;
      document.body.append(frame);
      return loaded(frame).then(() => frame.contentWindow.length);
    },
    form: () => {
      const form = document.createElement("form");
      Object.assign(form, { action: url, method: "post" });
      document.body.append(form);
      form.submit();
    },
    code: () => {
      document.body.append(Object.assign(document.createElement("script"), { type: "module" }));
      document.querySelector("body > script:last-child").append("window.__pwned = 1");
    },
  };
  function loaded(thing, event = "onload") {
    return new Promise((done, failed) => Object.assign(thing, { [event]: done, onerror: failed }));
  }
  for (const one of Object.values(tried)) {
    const limit = new Promise((done) => setTimeout(done, 150));
    await Promise.race([Promise.resolve().then(one).catch(() => 0), limit]);
  }
}"""


def test_a_file_can_neither_load_nor_send(open_file, counter):
    page = open_file("lesson", quiet=False, alone=False)
    page.context.set_offline(False)
    address, asked = counter
    page.evaluate(LEAKS, address)
    assert asked == []
    assert page.evaluate("typeof window.__pwned") == "undefined"
    plain = page.context.new_page()
    plain.goto(address.replace("http://", "about:blank#"))
    plain.evaluate(LEAKS, address)
    assert len(asked) > 4  # without the policy nearly all of them arrive


def test_hostile_texts_in_a_file_stay_texts(open_file):
    page = open_file(hostile_capture(), name=FILE_NAME)
    assert_harmless(page, scripts=2)
    assert_literal(page, TEXTS)
    assert_literal(page, [TITLE])


@pytest.mark.parametrize("kept", [0.6, 0.99])
def test_a_file_that_was_cut_off_says_so(chromium, tmp_path, kept):
    file = tmp_path / "page.html"
    content = prepare(find("sentence")).content
    file.write_bytes(content[: int(len(content) * kept)])
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector(f"{ROOT}[data-state=refused]", state="attached")
    words = page.inner_text("[role=alert]")
    context.close()
    assert words == "The numbers in this file are damaged. Export it again."


def test_a_file_does_not_offer_to_be_written(open_file):
    page = open_file("sentence", hash="#v=heads&L=1&h=2", layers=[0, 4], heads=[1, 3, 7])
    assert page.locator("button[data-act=save]").count() == 4
    assert page.locator("button[data-act=save-page]").count() == 0
