"""The map view as a person meets it: where it looks, what its pixels show, what it reads out."""

import re
from contextlib import contextmanager

import numpy as np

import softlookup as sl
from softlookup.captures import Axis, Capture, Layer

ROOT = "[data-softlookup]"
SHADOW = f'document.querySelector("{ROOT}").shadowRoot'
NEEDLE = (1300, 411)
_PIXELS = f"""(points) => {{
  const canvas = {SHADOW}.querySelector("canvas[data-map=cells]");
  const ratio = canvas.width / canvas.getBoundingClientRect().width;
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const pen = copy.getContext("2d", {{ willReadFrequently: true }});
  pen.drawImage(canvas, 0, 0);
  return points.map(([x, y]) =>
    [...pen.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data]);
}}"""


_FOLLOW = """(hash) => new Promise((followed) => {
  const drawn = () => requestAnimationFrame(() => requestAnimationFrame(followed));
  if (location.hash === `#${hash}`) return drawn();
  addEventListener("hashchange", drawn, { once: true });
  location.hash = hash;
})"""  # it ends after the page's own listener has looked, and two pictures later


def long(length=1500, *, heads=2, seed=5, tokens=None, lost=None, **options):
    """Return a causal capture in which query 1300 of head 0 reads key 411 and little else.

    Query `lost` is NaN.
    """
    numbers = np.random.default_rng(seed)
    query, key, value = (
        numbers.standard_normal((heads, length, 8)).astype(np.float32) for _ in "qkv"
    )
    if length > NEEDLE[0]:
        query[0, NEEDLE[0]] = key[0, NEEDLE[1]] = 3.5 * numbers.choice([-1, 1], 8)
    if lost is not None:
        query[0, lost] = np.nan
    axis = (Axis(tuple(tokens or (f"t{i % 97}" for i in range(length)))),)
    options.setdefault("causal", True)
    look = sl.Lookup(query, key, value, **options)
    return Capture("a long text", (Layer(look, axis, axis, number=0),))


def settle(page):
    """Wait until everything in view is there and the address is written."""
    page.page.wait_for_selector(f"{ROOT}[data-map=settled]", state="attached")
    page.wait()


def wait_built(page, words):
    """Wait until the page says how far the map is in words that begin so."""
    page.page.wait_for_function(
        f"(words) => {SHADOW}.querySelector('.map-built')?.textContent.startsWith(words)", arg=words
    )


def build(page):
    """Wait until the map and its profiles are whole."""
    page.page.wait_for_function(
        f"""() => {{
          const text = {SHADOW}.querySelector(".map-built")?.textContent ?? "";
          return text.startsWith("exact: all") && !text.includes("profiles");
        }}"""
    )
    page.page.wait_for_timeout(600)  # what was drawn from less is asked for once more
    settle(page)


def press(page, *keys):
    for key in keys:
        page.page.keyboard.press(key)
    settle(page)


def look_at(page, x, y, z, more=""):
    """Follow an address: key and query at the centre, log2 of the weights a pixel."""
    page.page.evaluate(_FOLLOW, f"v=map&L=0&h=0&x={x}&y={y}&z={z}{more}")
    page.page.wait_for_function(f"() => !!{SHADOW}.querySelector('.map-cells')")
    settle(page)


def camera(page):
    """Return x, y, z of the address."""
    return tuple(float(page.hash()[name]) for name in "xyz")


def box(page):
    cells = page.page.locator(".map-cells")
    cells.scroll_into_view_if_needed()
    found = cells.bounding_box()
    return found["x"], found["y"], found["width"], found["height"]


def place(page, query, key):
    """Return where the middle of a weight lies in the map's box, as the address says."""
    x, y, z = camera(page)
    _, _, width, height = box(page)
    return (
        (key + 0.5 - x) / 2**z + width / 2,
        (query + 0.5 - y) / 2**z + height / 2,
    )


def on_screen(page, query, key):
    left, top, *_ = box(page)
    px, py = place(page, query, key)
    return left + px, top + py


def pixels(page, points):
    """Return the colours at points of the map's box."""
    return [tuple(colour) for colour in page.page.evaluate(_PIXELS, [list(p) for p in points])]


def said(page):
    """Return what is read out, its marks of isolation left out."""
    return re.sub("[\u2068\u2069]", "", page.page.text_content("#map-pair"))


def said_exactly(page):
    found = re.search(r"exactly ([0-9.e−+-]+)", said(page))
    return float(found.group(1).replace("−", "-"))


def held(page):
    """Return the pair that the address says is held."""
    return tuple(int(part) for part in page.hash()["lock"].split("."))


def wait_said(page, words):
    page.page.wait_for_function(
        f"(words) => {SHADOW}.querySelector('#map-pair').textContent.includes(words)", arg=words
    )


@contextmanager
def asked(page):
    """Collect the operations that are asked for meanwhile."""
    found = []

    def heard(request):
        if "/api/" in request.url:
            found.append(request.url.rpartition("/api/")[2])

    page.page.on("request", heard)
    yield found
    page.page.remove_listener("request", heard)
