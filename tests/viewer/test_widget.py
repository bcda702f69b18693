"""The widget, as a page sees it: messages in, answers out; no notebook is needed for it."""

import html
import json
import subprocess
import sys
import threading
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

from patience import PATIENCE

pytest.importorskip("anywidget")

import softlookup as sl
from softlookup import viewer
from softlookup.captures import label
from softlookup.errors import OptionError, PackageError
from softlookup.shelf import find, given
from softlookup.viewer import Session, kernel, packed
from softlookup.viewer import widget as widgets
from softlookup.viewer.framed import SANDBOX, Frame
from softlookup.viewer.view import View


class Cell:
    """A widget, and what it sent; `ask` waits for the answer."""

    def __init__(self, session):
        self.sent = []
        self.came = threading.Condition()
        self.widget = widgets.Widget(session, 680)
        self.widget.send = self._hear

    def _hear(self, content, buffers=None):
        json.dumps(content, allow_nan=False)
        with self.came:
            self.sent.append((content, buffers, threading.get_ident()))
            self.came.notify_all()

    def say(self, content):
        self.widget._handle_custom_msg(content, [])

    def answer(self, name):
        def found():
            return [
                (content["json"], buffers) for content, buffers, _ in self.sent
                if content["id"] == name
            ]  # fmt: skip

        with self.came:
            assert self.came.wait_for(found, 30), f"{name} is not answered"
            (answer,) = found()
        return answer

    def ask(self, op, name="1", **args):
        self.say({"id": name, "op": op, "args": args})
        return self.answer(name)


@pytest.fixture
def session():
    return Session(find("sentence"))


@pytest.fixture
def cell(session):
    cell = Cell(session)
    yield cell
    cell.widget.close()


class Slow:
    """A session whose op `slow` is answered once it is let go."""

    def __init__(self, session):
        self.session = session
        self.shelf = session.shelf
        self.open = session.open
        self.begun, self.go = threading.Event(), threading.Event()

    def handle(self, op, args):
        if op == "slow":
            self.begun.set()
            assert self.go.wait(PATIENCE)
            return {"slow": True}, None
        if op == "fails":
            raise ZeroDivisionError("of all things")
        if op == "stopped":
            raise KeyboardInterrupt
        return self.session.handle(op, args)


@pytest.fixture
def slow(session):
    cell = Cell(slow := Slow(session))
    yield cell, slow
    slow.go.set()
    cell.widget.close()


def test_a_question_gets_the_session_s_answer(cell, session):
    assert cell.ask("info") == (session.handle("info", {})[0], [])
    args = {"layer": "2", "head": "3"}
    answer, blob = session.handle("grid", args)
    assert cell.ask("grid", "2", **args) == (answer, [blob])


@pytest.mark.parametrize(("op", "args", "words"), [
    ("nothing", {}, "op: must be one of info"),
    ("grid", {"layer": "99"}, "layer: must be a whole number 0 ... 5; got '99'."),
    ("numbers", {"capture": "x"}, "capture: must be one of sentence"),
    ("numbers", {"most": "1000"}, "numbers: must take at most 1000 bytes; they take more."),
    ("numbers", {"more": "1"}, "numbers: has no argument 'more'. It has capture, most."),
])  # fmt: skip
def test_a_refusal_is_a_sentence(cell, op, args, words):
    answer, buffers = cell.ask(op, **args)
    assert answer["ok"] is False
    assert answer["error"].startswith(words)
    assert answer["argument"] == answer["error"].partition(":")[0]
    assert buffers == []


@pytest.mark.parametrize(("op", "words"), [
    ("fails", "fails: failed: ZeroDivisionError('of all things'). This is a bug."),
    ("stopped", "stopped: was interrupted. Try again."),
])  # fmt: skip
def test_a_bug_is_a_sentence_too_and_nothing_stays_open(slow, op, words):
    cell, _ = slow
    answer, _ = cell.ask(op)
    assert answer == {"ok": False, "error": words, "argument": op}
    assert cell.ask("info", "2")[0]["capture"] == "sentence"
    assert cell.ask("here", "3") == ({"working": []}, [])


@pytest.mark.parametrize("content", [
    None, "info", [], {}, {"id": 1, "op": "info"}, {"id": "1"}, {"id": "1", "op": None},
    {"id": "1", "op": "info", "args": None}, {"id": "1", "op": "info", "args": {"layer": 1}},
])  # fmt: skip
def test_what_is_no_question_is_let_go(cell, content):
    cell.say(content)
    cell.ask("info", "after")
    assert [told["id"] for told, *_ in cell.sent] == ["after"]


def test_a_long_answer_holds_up_neither_a_short_one_nor_the_thread_that_asked(slow):
    cell, session = slow
    cell.say({"id": "long", "op": "slow"})
    assert session.begun.wait(PATIENCE)
    assert cell.ask("here", "a") == ({"working": ["long"]}, [])
    assert cell.ask("info", "b")[0]["capture"] == "sentence"
    session.go.set()
    assert cell.answer("long") == ({"slow": True}, [])


def test_every_one_of_many_questions_from_many_threads_gets_its_own_answer(cell, session):
    queries = len(session.handle("info", {})[0]["axes"][0]["tokens"])
    asked = [(f"{n}", n % 6, n % 12, n % queries) for n in range(120)]

    def ask(part):
        for name, layer, head, row in part:
            args = {"layer": str(layer), "head": str(head), "row": str(row)}
            cell.say({"id": name, "op": "trace", "args": args})

    threads = [threading.Thread(target=ask, args=(asked[at::6],)) for at in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, layer, head, row in asked:
        args = {"layer": str(layer), "head": str(head), "row": str(row)}
        assert cell.answer(name)[0] == session.handle("trace", args)[0]
    assert len(cell.sent) == len(asked)


def test_the_numbers_are_those_of_an_exported_file(cell, session):
    answer, (blob,) = cell.ask("numbers")
    assert answer == {}
    assert blob.decode("ascii") == packed.pack(session, "sentence")
    lesson = json.loads(cell.ask("numbers", "2", capture="lesson")[1][0])
    assert lesson["info"]["capture"] == "lesson"
    assert lesson["info"]["source"] == "lesson"


def test_a_closed_widget_answers_nothing_and_leaves_no_thread(session):
    cell = Cell(session)
    cell.ask("info")
    threads = [t for t in threading.enumerate() if t.name.startswith("softlookup-cell")]
    assert threads
    cell.widget.close()
    cell.widget._hear(None, {"id": "2", "op": "info"}, None)
    assert cell.widget._working == set()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert [told["id"] for told, *_ in cell.sent] == ["1"]


@pytest.mark.parametrize("where", ["marimo", "colab"])
def test_where_only_the_thread_that_was_asked_may_answer_it_does(session, monkeypatch, where):
    monkeypatch.setattr(widgets, "notebook", lambda: where)
    cell = Cell(session)
    cell.say({"id": "1", "op": "info"})
    ((told, _, thread),) = cell.sent
    assert (told["id"], thread) == ("1", threading.get_ident())
    cell.widget.close()
    cell.say({"id": "2", "op": "info"})
    assert len(cell.sent) == 1


def test_what_is_synced_is_the_page_and_where_its_reader_is(cell):
    state = cell.widget.get_state()
    assert "softlookup" in state["_page"]
    assert '<div data-softlookup="cell"></div>' in state["_page"]
    assert 'id="softlookup-data"' not in state["_page"], "the numbers come when they are asked for"
    assert "export {" in state["_esm"]
    assert len(state["_esm"]) < 10_000
    assert (state["height"], state["place"]) == (680, "")
    cell.widget.set_state({"place": "v=heads&L=2"})
    assert cell.widget.place == "v=heads&L=2"


def test_where_no_widget_can_be_a_sentence_says_what_to_do():
    look = sl.Lookup([[1, 0]], [[1, 0]], [[1, 0]])
    widget = widgets.Widget(Session(given(label(look, title="<b>\u202e&"), "lookup")), 680)
    bundle = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert "<b>" not in data["text/html"]
    assert "&lt;b&gt;" in data["text/html"]
    assert "Run this cell to look into it" in data["text/html"]
    assert data["text/plain"] == repr(widget)
    widget.close()


def test_colab_is_offered_nothing_but_the_widget(monkeypatch, session):
    monkeypatch.setattr(widgets, "notebook", lambda: "colab")
    widget = widgets.Widget(session, 680)
    bundle = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/plain"}
    widget.close()


# Where `show` shows


@pytest.fixture
def in_a_notebook(monkeypatch):
    monkeypatch.setattr(viewer, "notebook", lambda: "jupyter")


@pytest.mark.usefixtures("in_a_notebook")
def test_show_in_a_notebook_is_a_widget_and_a_named_port_a_page(capsys):
    widget = sl.show("sentence", height=400)
    assert isinstance(widget, widgets.Widget)
    assert (widget.height, widget.title) == (400, "A sentence with two banks")
    widget.close()
    assert capsys.readouterr().out == ""
    for named in ({"port": 0, "open_browser": False}, {"port": 0}, {"open_browser": False}):
        with sl.show(**named) as view:
            assert isinstance(view, View)


@pytest.mark.usefixtures("in_a_notebook")
def test_a_notebook_without_anywidget_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "softlookup.viewer.widget")
    monkeypatch.delattr(viewer, "widget", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(PackageError, match=r'pip install "softlookup\[notebook\]".*port=0'):
        sl.show()


@pytest.mark.parametrize(("how", "words"), [
    ({"static": True, "port": 0}, "static: goes without port and open_browser"),
    ({"static": True, "open_browser": False}, "static: goes without port and open_browser"),
    ({"static": True, "height": 100}, "height: must be a whole number 200 ... 10000, pixels"),
    ({"static": True, "height": 300.0}, "got 300.0"),
    ({"static": True, "height": True}, "got True"),
    ({"port": 0, "height": 10_001}, "got 10001"),
])  # fmt: skip
def test_what_does_not_go_together_is_refused(how, words):
    with pytest.raises(OptionError) as told:
        sl.show(**how)
    assert words in str(told.value)


class _Frames(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_a_static_view_is_one_frame_with_the_exported_page(tmp_path):
    look = sl.Lookup(*np.eye(2)[None, None].repeat(3, 0))
    title = '"><script>alert(1)</script>'
    frame = sl.show(look, static=True, title=title, tokens=["</iframe>", "'\""], height=300)
    assert isinstance(frame, Frame)
    file = sl.export_html(look, tmp_path / "page.html", title=title, tokens=["</iframe>", "'\""])
    ((tag, attrs),) = _Frames(frame._repr_html_()).found
    assert tag == "iframe"
    assert attrs["srcdoc"] == file.read_text(encoding="utf-8")
    assert attrs["title"] == title
    assert attrs["sandbox"] == SANDBOX == "allow-scripts allow-downloads allow-forms"
    assert "height: 300px" in attrs["style"]
    assert "src" not in attrs
    assert frame._mime_() == ("text/html", frame._repr_html_())
    assert set(frame._repr_mimebundle_()) == {"text/html", "text/plain"}
    assert html.escape(title) in frame._repr_html_()


def _shell(**has):
    return SimpleNamespace(get_ipython=lambda: SimpleNamespace(**has))


def _marimo(mode):
    return SimpleNamespace(app_meta=lambda: SimpleNamespace(mode=mode))


@pytest.mark.parametrize(("modules", "where"), [
    ({}, None),
    ({"IPython": SimpleNamespace(get_ipython=lambda: None)}, None),
    ({"IPython": _shell()}, None),  # a terminal
    ({"IPython": _shell(kernel=None)}, None),
    ({"IPython": _shell(kernel=object())}, "jupyter"),
    ({"IPython": _shell(kernel=object()), "google.colab": object()}, "colab"),
    ({"marimo": _marimo("edit")}, "marimo"),
    ({"marimo": _marimo("run")}, "marimo"),
    ({"marimo": _marimo("script")}, "marimo"),  # no frontend, but cells
    ({"marimo": _marimo(None)}, None),  # imported by a program
    ({"marimo": _marimo("test")}, None),  # or by tests
    ({"marimo": SimpleNamespace()}, None),  # half imported
])  # fmt: skip
def test_a_kernel_knows_its_notebook(monkeypatch, modules, where):
    for name in ("IPython", "marimo", "google.colab"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert kernel.notebook() == where


SCRIPT = """\
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo, softlookup as sl
    shown = mo.ui.anywidget(sl.show("causal"))
    shown
    return (shown,)


@app.cell
def _(shown):
    print("shown:", repr(shown.title), repr(shown.place))
    return


if __name__ == "__main__":
    app.run()
    print("and on")
"""


def test_a_marimo_notebook_runs_as_a_script(tmp_path):
    pytest.importorskip("marimo", reason="marimo is missing: make notebooks installs it")
    file = tmp_path / "notebook.py"
    file.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "shown: 'A text that repeats itself' ''\nand on\n", "nothing is served"


def test_neither_the_package_nor_a_local_page_loads_a_notebook():
    program = (
        "import sys, softlookup as sl\n"
        "sl.show(port=0, open_browser=False).close()\n"
        "sl.show(static=True)\n"
        "heavy = {'anywidget', 'ipywidgets', 'traitlets', 'IPython', 'marimo', 'comm'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
