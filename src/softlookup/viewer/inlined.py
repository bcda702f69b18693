"""The page as one text: HTML that carries its script, to stand in a file or in a frame.

It asks nobody for anything: its policy allows the one script that it carries, by its hash, and no
connection.
"""

import base64
import hashlib
import html

from softlookup.errors import ViewError
from softlookup.viewer.bundle import page_script

# No frame-ancestors: a policy inside a page cannot set it.
POLICY = (
    "default-src 'none'; script-src 'sha256-{sha256}'; style-src 'none'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
# The script comes first: it waits for the whole page, and can still say so where that is cut off.
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="softlookup {version}">
<link rel="icon" href="data:,">
</head>
<body>
<div data-softlookup{where}></div>
<noscript>softlookup draws this page with the script that it carries; allow scripts.</noscript>
<script type="module">{script}</script>
{block}</body>
</html>
"""
BLOCK = '<script type="application/json" id="softlookup-data">{data}</script>\n'


def page(title: str, version: str, *, data: str | None) -> str:
    """Return the page that shows what `data` holds, or what the cell around it is told.

    Parameters
    ----------
    title, version : str
        Texts.
    data : str or None
        A block of JSON that can stand between tags; None where the page stands in a notebook's cell
        and asks its kernel.
    """
    script = inline_script()
    return PAGE.format(
        policy=POLICY.format(sha256=_sha256(script)),
        title=html.escape(f"{title} - softlookup"),
        version=html.escape(version),
        where='="cell"' if data is None else "",
        block="" if data is None else BLOCK.format(data=data),
        script=script,
    )


def inline_script() -> str:
    """Return the bundle as it can stand between two tags.

    Raises
    ------
    ViewError
        Where it cannot, or the installation lacks it.
    """
    script = page_script().decode("utf-8").replace("\r\n", "\n")
    if "</script" in script.lower() or "<!--" in script:
        raise ViewError(
            "page", "needs a script that can stand inside a page; app.js holds '</script' or "
            "'<!--'. In a working copy write them in two parts."
        )  # fmt: skip
    return f"\n{script}"


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
