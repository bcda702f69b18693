"""The view in a cell of a notebook: one session, asked by messages of a widget.

The page stands in a frame inside the cell. It sends ``{"id", "op", "args"}``, and the answer goes
back as ``{"id", "json"}`` with the answer's bytes as one buffer; answers may come in any order. Two
ops are the widget's own: ``here`` says at once that the kernel hears, and which questions it is
``working`` on; ``numbers`` are a capture's arrays for the page's own arithmetic, where they take at
most ``most`` bytes.

Questions are answered in threads of their own, so that a long one holds up neither a short one nor
the next cell. Where a notebook lets only the thread that was asked answer, that one does.
"""

import html
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anywidget
import traitlets

from softlookup.errors import SoftlookupError, ViewError
from softlookup.viewer import arguments
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.bundle import cell_script
from softlookup.viewer.inlined import page
from softlookup.viewer.kernel import notebook
from softlookup.viewer.packed import least, pack
from softlookup.viewer.session import Session

THREADS = 4
MOST_NUMBERS = 50_000_000  # bytes that a page may ask for

Reply = tuple[Any, bytes | None]


class Widget(anywidget.AnyWidget):  # type: ignore[misc] # seen without its types
    """A view in a cell; the last line of a cell shows it.

    It is asked as long as its kernel lives. ``close()`` ends it earlier.

    Attributes
    ----------
    place : str
        Where its reader is, in the words of a link's fragment.
    height : int
        Pixels of the cell that it takes when it is shown; a reader may drag its lower corner.
    """

    _esm = cell_script()
    _page = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    place = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int().tag(sync=True)

    def __init__(self, session: Session, height: int) -> None:
        opened = session.open(session.shelf[0].id)
        info = session.handle("info", {})[0]
        self._session = session
        self._sending = threading.Lock()
        self._working: set[str] = set()
        self._closed = False
        self._where = notebook()
        self._pool = None if self._where in ("marimo", "colab") else _pool()
        self._what = opened.title or "a lookup"
        super().__init__(
            _page=page(self._what, info["version"], data=None), title=self._what, height=height
        )
        self.on_msg(self._hear)

    def _hear(self, _: object, content: object, __: object) -> None:
        """Take a message of the page; what is none, or comes after the end, is let go."""
        question = _question(content)
        if question is None or self._closed:
            return
        name, op, args = question
        if op == "here":
            self._tell(name, ({"working": sorted(self._working)}, None))
            return
        self._working.add(name)
        if self._pool is None:
            self._answer(name, op, args)
        else:
            self._pool.submit(self._answer, name, op, args)

    def _answer(self, name: str, op: str, args: Arguments) -> None:
        try:
            reply = self._numbers(args) if op == "numbers" else self._session.handle(op, args)
        except BaseException as error:
            stopped = isinstance(error, KeyboardInterrupt)
            how = "was interrupted. Try again." if stopped else f"failed: {error!r}. This is a bug."
            self._tell(name, _refused(f"{op}: {how}", op))
            raise
        else:
            self._tell(name, reply)
        finally:
            self._working.discard(name)

    def _numbers(self, args: Arguments) -> Reply:
        try:
            arguments.check_names(args, ("capture", "most"), "numbers")
            names = [item.id for item in self._session.shelf]
            name = arguments.word(args, "capture", names, default=names[0])
            most = arguments.whole(args, "most", MOST_NUMBERS + 1, default=MOST_NUMBERS)
            if least(self._session.open(name).capture) > most:
                raise ViewError("numbers", f"must take at most {most} bytes; they take more.")
        except SoftlookupError as error:
            return _refused(str(error), error.argument)
        return {}, pack(self._session, name).encode("ascii")

    def _tell(self, name: str, reply: Reply) -> None:
        answer, blob = reply
        with self._sending:
            self.send({"id": name, "json": answer}, [] if blob is None else [blob])

    def close(self) -> None:
        """End it: what is on its way is left, and the cell shows nothing any more."""
        self._closed = True
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        super().close()

    def _repr_mimebundle_(self, **how: Any) -> Any:
        bundle = super()._repr_mimebundle_(**how)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data is not None:
            data["text/plain"] = repr(self)
            if self._where != "colab":  # what is seen where no widget can be; Colab might take it
                data["text/html"] = f"<p>{html.escape(self._words())}</p>"
        return bundle

    def _words(self) -> str:
        return (
            f"softlookup: {self._what}. Run this cell to look into it; "
            "sl.show(…, static=True) stays in the notebook."
        )

    def __repr__(self) -> str:
        return f"<Widget of {self._what!r}>"


def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="softlookup-cell")


def _question(content: object) -> tuple[str, str, Arguments] | None:
    """Return the id, the op and the arguments of a message; None where it is no question."""
    if not isinstance(content, dict):
        return None
    name, op, args = content.get("id"), content.get("op"), content.get("args", {})
    if not (isinstance(name, str) and isinstance(op, str) and isinstance(args, dict)):
        return None
    if not all(isinstance(text, str) for pair in args.items() for text in pair):
        return None
    return name, op, args


def _refused(sentence: str, argument: str) -> Reply:
    return {"ok": False, "error": sentence, "argument": argument}, None
