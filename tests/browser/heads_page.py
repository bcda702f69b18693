"""The heads view as a person meets it: thumbnails, cells of the grid, lists."""

import re

import numpy as np

import softlookup as sl
from softlookup.captures import Axis, Capture, Layer

GRID = ".heat-cells[data-which={which}]"
CELL = (
    "parseFloat(getComputedStyle(box.closest('.heat').querySelector('.keys'))"
    ".getPropertyValue('--cell'))"
)
PIXEL = f"""([selector, row, column]) => {{
  const box = document.querySelector("[data-softlookup]").shadowRoot.querySelector(selector);
  const canvas = box.querySelector("canvas");
  const ratio = canvas.width / canvas.getBoundingClientRect().width;
  const middle = (at) => Math.round((at + 0.5) * {CELL} * ratio);
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const pen = copy.getContext("2d", {{ willReadFrequently: true }});
  pen.drawImage(canvas, 0, 0);
  return [...pen.getImageData(middle(column), middle(row), 1, 1).data].slice(0, 3);
}}"""
PLACE = f"""([selector, row, column]) => {{
  const box = document.querySelector("[data-softlookup]").shadowRoot.querySelector(selector);
  const {{ left, top }} = box.getBoundingClientRect();
  return [left + (column + 0.5) * {CELL}, top + (row + 0.5) * {CELL}];
}}"""


def small(layers=2, heads=2, length=6, *, words=None, padding=(), about=None, seed=3, **options):
    """Return a capture of a few heads over a few tokens."""
    numbers = np.random.default_rng(seed)
    axis = (Axis(tuple("abcdefghijklmnop"[:length]), words, padding),)
    made = [
        Layer(
            sl.Lookup(*(2 * numbers.standard_normal((heads, length, 8)) for _ in "qkv"), **options),
            axis, axis, number=number,
        )
        for number in range(layers)
    ]  # fmt: skip
    return Capture("a few heads", tuple(made), about or {})


def open_head(page, stage, head):
    page.click(f".thumb[data-arg='{stage}.{head}']")


def pick(page, token):
    page.click(f".piece[data-arg='{token}']")


def place(page, row, key, which="first"):
    """Return where a cell lies on the screen, scrolled into sight."""
    page.page.locator(GRID.format(which=which)).scroll_into_view_if_needed()
    return page.page.evaluate(PLACE, [GRID.format(which=which), row, key])


def hover(page, row, key, which="first"):
    page.page.mouse.move(*place(page, row, key, which))


def click(page, row, key, which="first"):
    page.page.mouse.click(*place(page, row, key, which))
    page.wait()


def pixel(page, row, key, which="first"):
    return page.page.evaluate(PIXEL, [GRID.format(which=which), row, key])


def said(page):
    """Return what the line below the grid says, its marks of isolation left out."""
    text = page.page.text_content("#pair")
    return re.sub("[\u2068\u2069]", "", text)


def said_exactly(page):
    return float(said(page).rpartition("exactly ")[2].replace("−", "-"))


def read_list(page, number):
    """Return a list of reads as (token, weight, so far)."""
    rows = page.page.locator(".reads").nth(number).locator("tbody tr")
    return [tuple(row.locator("th, td").all_inner_texts()) for row in rows.all()]
