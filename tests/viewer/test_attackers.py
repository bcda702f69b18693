"""A real browser on the attacker's page: what it can reach of an open view, and what it cannot."""

import pytest

from softlookup.viewer import redirect

pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium):
    context = chromium.new_context()
    yield context.new_page()
    context.close()


FETCH = """
async ([url, mode, token]) => {
  try {
    const headers = token ? {authorization: "Bearer " + token} : {};
    const answer = await fetch(url, {mode, headers});
    return [answer.type, answer.status, await answer.text()];
  } catch (error) { return ["failed", 0, ""]; }
}
"""


def test_the_private_file_leads_to_the_page_and_the_token_leaves_the_address(page, view):
    file = redirect.write_redirect(view.url)
    page.goto(file.as_uri())
    token = view.url.partition("#t=")[2]
    own = f"http://127.0.0.1:{view.port}/"
    page.wait_for_url(lambda url: url.startswith(own) and token not in url)
    redirect.remove_redirect(file)


def test_a_name_that_now_points_at_this_machine_gets_nothing(page, view, wire):
    answer = page.goto(f"http://evil.test:{view.port}/")
    assert answer.status == 421
    got = page.evaluate(FETCH, ["/api/info", "same-origin", wire.token])  # even with the token
    assert got[1:] == [421, "unknown host"]


def test_another_port_of_this_machine_reads_nothing(page, view, wire, stranger):
    page.goto(stranger)
    target = f"http://127.0.0.1:{view.port}"
    for path in ("/", "/app.js", "/api/info"):
        assert page.evaluate(FETCH, [target + path, "cors", None])[0] == "failed"
        assert page.evaluate(FETCH, [target + path, "cors", wire.token])[0] == "failed"
        kind, _, text = page.evaluate(FETCH, [target + path, "no-cors", None])
        assert (kind, text) in {("failed", ""), ("opaque", "")}


def test_another_port_can_neither_run_the_script_nor_frame_the_page(page, view, stranger):
    page.goto(stranger)
    target = f"http://127.0.0.1:{view.port}"
    loaded = page.evaluate(
        """url => new Promise(done => {
             const script = document.createElement("script");
             script.type = "module"; script.src = url;
             script.onload = () => done("loaded"); script.onerror = () => done("failed");
             document.head.append(script);
           })""",
        f"{target}/app.js",
    )
    assert loaded == "failed"
    page.evaluate(
        """url => new Promise(done => {
             const frame = document.createElement("iframe");
             frame.src = url; frame.onload = done; frame.onerror = done;
             document.body.append(frame);
           })""",
        f"{target}/",
    )
    framed = [frame for frame in page.frames if frame is not page.main_frame]
    assert not any("data-softlookup" in frame.content() for frame in framed)


def test_markup_cannot_be_injected_even_by_the_page_itself(page, view):
    page.goto(view.url)
    refused = page.evaluate(
        """() => {
             try { document.createElement("p").innerHTML = "<b>x</b>"; return "set"; }
             catch (error) { return error.name; }
           }"""
    )
    assert refused == "TypeError"
