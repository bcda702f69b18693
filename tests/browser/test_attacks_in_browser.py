"""A real browser against an open view: other sites, other ports, and texts that mean harm.

tests/viewer/test_attackers.py has the first attempts of strangers; here is what else a page of
theirs can try, and what hostile captures can do in either view.
"""

import json

import pytest
from hostile import TEXTS, TITLE, assert_harmless, assert_literal, capture

from softlookup import captures
from softlookup.shelf import given
from softlookup.tokens import readable
from softlookup.viewer import open_view
from softlookup.viewer.session import OPERATIONS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SETTLED = "[data-softlookup][data-state=ready]"


@pytest.fixture(scope="module")
def view():
    with open_view(given(capture(), "file"), port=0, open_browser=False) as opened:
        yield opened


@pytest.fixture
def page(chromium):
    context = chromium.new_context()
    yield context.new_page()
    context.close()


def token_of(view):
    return view.url.partition("#t=")[2]


def origin_of(view):
    return f"http://127.0.0.1:{view.port}"


# Other sites


def test_a_rebound_name_gets_no_answer_even_with_the_token(page, view):
    page.goto(f"http://evil.test:{view.port}/")
    paths = ["/", "/app.js", *(f"/api/{op}" for op in OPERATIONS)]
    answers = page.evaluate(
        """async ([paths, token]) => {
             const headers = { authorization: `Bearer ${token}` };
             return Promise.all(paths.map(async (path) => {
               const answer = await fetch(path, { headers });
               return [answer.status, await answer.text()];
             }));
           }""",
        [paths, token_of(view)],
    )
    assert answers == [[421, "unknown host"]] * len(paths)
    own = page.context.new_page()
    own.goto(view.url)
    own.wait_for_selector(SETTLED, state="attached")
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert token_of(view) not in stored


REQUESTS = """async ([target, token]) => {
  const heard = [];
  const hear = async (answer) => heard.push(answer.type === "opaque" ? "" : await answer.text());
  for (const mode of ["cors", "no-cors", "same-origin", "navigate"]) {
    for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
      for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE"]) {
        try { await hear(await fetch(target, { mode, headers, method })); } catch {}
      }
    }
  }
  const old = new XMLHttpRequest();
  try { old.open("GET", target, false); old.send(); heard.push(old.responseText); } catch {}
  const wire = (make, event) => new Promise((done) => {
    const one = make();
    one[event] = () => heard.push("connected");
    one.onerror = () => { one.close(); done(); };
    one.onmessage = ({ data }) => heard.push(data);
    setTimeout(done, 1000);
  });
  await wire(() => new EventSource(target), "onopen");
  await wire(() => new WebSocket(target.replace("http", "ws")), "onopen");
  return heard.filter((text) => text !== "");
}"""


@pytest.mark.parametrize("path", ["/", "/app.js", "/api/info", "/api/grid", "/api/trace?row=0"])
def test_another_port_hears_nothing(page, view, stranger, path):
    page.goto(stranger)
    assert page.evaluate(REQUESTS, [origin_of(view) + path, token_of(view)]) == []


ELEMENTS = """async (target) => {
  const made = {
    script: { src: target }, module: { src: target, type: "module" },
    link: { href: target, rel: "stylesheet" }, preload: { href: target, rel: "modulepreload" },
    img: { src: target }, video: { src: target },
  };
  const loaded = [];
  for (const [name, fields] of Object.entries(made)) {
    const tag = { module: "script", preload: "link" }[name] ?? name;
    const element = Object.assign(document.createElement(tag), fields);
    await new Promise((done) => {
      element.onload = element.onloadeddata = () => { loaded.push(name); done(); };
      element.onerror = () => done();
      document.body.append(element);
      setTimeout(done, 1000);
    });
  }
  return loaded;
}"""


@pytest.mark.parametrize("path", ["/", "/app.js", "/api/info"])
def test_no_element_of_a_stranger_loads_anything(page, view, stranger, path):
    page.goto(stranger)
    assert page.evaluate(ELEMENTS, origin_of(view) + path) == []


@pytest.mark.parametrize("tag", ["iframe", "object", "embed"])
def test_a_stranger_cannot_frame_the_page(page, view, stranger, tag):
    page.goto(stranger)
    page.evaluate(
        """([tag, url]) => new Promise((done) => {
             const element = document.createElement(tag);
             element[tag === "object" ? "data" : "src"] = url;
             element.onload = element.onerror = done;
             document.body.append(element);
             setTimeout(done, 1000);
           })""",
        [tag, view.url],
    )
    page.wait_for_timeout(200)  # a refused object gives up its frame
    framed = [frame for frame in page.frames if frame is not page.main_frame]
    shown = [frame.content() for frame in framed]
    assert not any("data-softlookup" in text or token_of(view) in text for text in shown)


def test_a_stranger_that_opens_the_page_sees_nothing_of_it(page, view, stranger):
    page.goto(stranger)
    with page.context.expect_page() as opened:
        page.evaluate("url => { window.other = window.open(url); }", origin_of(view) + "/")
    opened.value.wait_for_selector("[data-softlookup][data-state=refused]", state="attached")
    page.wait_for_function("other.closed")  # COOP: they no longer know each other
    seen = page.evaluate(
        """() => {
             const look = (what) => { try { return String(what()); } catch { return "refused"; } };
             return [look(() => other.location.href), look(() => other.document.body.innerHTML),
                     look(() => other.sessionStorage)];
           }"""
    )
    assert seen == ["refused"] * 3
    assert opened.value.evaluate("window.opener") is None


def test_a_stranger_that_the_tab_goes_to_learns_no_token(page, view, stranger):
    """The tab goes from the view to a stranger: neither referrer nor history holds the key."""
    page.goto(view.url)
    page.wait_for_selector(SETTLED, state="attached")
    page.evaluate("url => { location.href = url; }", stranger)
    page.wait_for_url(stranger)
    left = page.evaluate(
        """() => [document.referrer, window.name, document.cookie,
                  JSON.stringify([{...sessionStorage}, {...localStorage}])].join(" ")"""
    )
    assert token_of(view) not in left
    page.go_back()
    page.wait_for_selector(SETTLED, state="attached")
    assert token_of(view) not in page.url


# Texts


@pytest.fixture
def shown(page, view):
    """Open a place of the hostile capture; afterwards nothing may have been said."""
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    def shown(fields):
        page.goto(view.url + fields)
        page.wait_for_selector(SETTLED, state="attached")
        return page

    yield shown
    assert said == []


PLACES = {
    "all heads": "&v=heads",
    "a head": "&v=heads&L=0&h=1&q=5",
    "a pair": "&v=heads&L=1&h=0&q=11&k=3",
    "words": "&v=heads&L=0&h=0&w=1",
    "two heads": "&v=heads&L=0&h=0&q=4&cmp=1.2",
    "the steps": "&v=steps&q=6",
    "all queries": "&v=steps&q=6&all=1",
}


@pytest.mark.parametrize("place", PLACES)
def test_hostile_texts_stay_texts_in_either_view(shown, place):
    page = shown(PLACES[place])
    for key in ("?", "Escape", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    page.locator("details > summary").evaluate_all("all => all.forEach((one) => one.click())")
    page.mouse.move(640, 500)
    page.wait_for_selector(SETTLED, state="attached")
    assert_harmless(page, scripts=1)
    assert_literal(page, [TITLE])
    if place != "words":
        assert_literal(page, TEXTS)


def test_what_a_capture_says_about_itself_is_shown_as_text(shown):
    page = shown("&v=heads")
    page.locator("details > summary").evaluate_all("all => all.forEach((one) => one.click())")
    about = page.locator("details").evaluate_all("all => all.map(one => one.textContent).join()")
    for text in TEXTS:
        assert about.count(readable(text)) >= 2, text  # the name of a note, and the note
    assert_harmless(page, scripts=1)


def test_a_hostile_file_name_stays_text(page, tmp_path):
    name = "<img src=x onerror=window.__pwned=1>\u202e&.json"
    vectors = [[1, 0], [0, 1]]
    file = tmp_path / name
    file.write_text(json.dumps({"query": vectors, "key": vectors, "value": vectors}))
    with open_view(given(captures.load(file), "file"), port=0, open_browser=False) as view:
        page.goto(view.url)
        page.wait_for_selector(SETTLED, state="attached")
        assert_harmless(page, scripts=1)
        assert_literal(page, [name.removesuffix(".json")])


def test_harm_that_is_real_would_be_seen(page):
    """The checks above are not blind."""
    page.goto("about:blank")
    page.evaluate("document.body.innerHTML = `<img src=x onerror='window.__pwned=1'>`")
    with pytest.raises(AssertionError):
        assert_harmless(page, scripts=0)
    with pytest.raises(AssertionError):
        assert_literal(page, ["not there"])
