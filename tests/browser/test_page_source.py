"""What the viewer's modules may not call, and what its files may not hold."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "web" / "src").glob("*.js"))
STATIC = ROOT / "src" / "softlookup" / "viewer" / "static"
BUNDLES = [STATIC / "app.js", STATIC / "cell.js"]
FRAME = 'frame.srcdoc = model.get("_page");'  # the page itself, as the kernel has made it
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser"
    r"|createContextualFragment|setHTMLUnsafe|srcdoc\s*=|cssText|setAttribute\(\s*[\"']style"
    r"|createElement\(\s*[\"']script|document\.cookie|XMLHttpRequest|WebSocket|sendBeacon"
    r"|https?://(?!www\.w3\.org/2000/svg\")|import\("  # the name of SVG is no place
)


@pytest.mark.parametrize("file", [*MODULES, *BUNDLES], ids=lambda file: file.name)
def test_no_way_for_text_to_become_markup_or_to_leave(file):
    code = re.sub(r"/\*\*.*?\*/", "", file.read_text("utf-8"), flags=re.DOTALL)
    if file.name == "cell.js":
        assert code.count(FRAME) == 1
        code = code.replace(FRAME, "")
    found = FORBIDDEN.search(code)
    assert found is None, f"{file.name}: {found and found[0]}"


def test_elements_are_made_in_one_place():
    makers = [file.name for file in MODULES if "createElement" in file.read_text("utf-8")]
    assert makers == ["dom.js"]


def test_modules_are_small():
    assert len(MODULES) > 20
    for file in MODULES:
        lines = file.read_text("utf-8").splitlines()
        assert len(lines) <= 400, file.name


def test_the_lock_file_names_no_host():
    text = (ROOT / "web" / "package-lock.json").read_text("utf-8")
    assert "resolved" not in text
