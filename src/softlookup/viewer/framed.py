"""A page that stands in a notebook by itself: one frame that carries all of it, and asks nobody."""

import html
from typing import Any

# No allow-same-origin: the page has an origin of its own, and cannot reach the notebook around it.
# Downloads are what its buttons save; forms close its dialogs, and its policy lets none be sent.
SANDBOX = "allow-scripts allow-downloads allow-forms"
STYLE = "width: 100%; height: {height}px; border: 0; border-radius: 6px; color-scheme: normal"


class Frame:
    """One HTML frame with a whole page inside, as a notebook shows and saves it.

    Parameters
    ----------
    content : str
        The page, all of it.
    title : str
        What the frame is called, for those who hear it.
    height : int
        Pixels.
    """

    def __init__(self, content: str, title: str, height: int) -> None:
        self.content = content
        self.title = title
        self.height = height

    def _repr_html_(self) -> str:
        srcdoc, title = (html.escape(text, quote=True) for text in (self.content, self.title))
        return (
            f'<iframe title="{title}" sandbox="{SANDBOX}" allow="clipboard-write *" '
            f'style="{STYLE.format(height=self.height)}" srcdoc="{srcdoc}"></iframe>'
        )

    def _mime_(self) -> tuple[str, str]:  # how marimo asks
        return "text/html", self._repr_html_()

    def __repr__(self) -> str:
        return f"<Frame of {self.title!r}, {len(self.content) / 1e6:.1f} MB>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}
