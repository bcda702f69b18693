"""The lesson as plain text for a terminal, at most 100 columns wide."""

from collections.abc import Callable, Collection
from dataclasses import replace
from textwrap import wrap

from softlookup.lesson import words, worked
from softlookup.lesson.parts import Section, Table

WIDTH = 88
_NARROWEST = 11  # a longer column head is broken over lines


def as_text(spelt: Callable[[str], str] = str) -> str:
    """Return the whole lesson: its sections, the worked example in full, recap and checklist.

    Parameters
    ----------
    spelt : callable, optional
        How the terminal writes a text; applied before lines are broken and columns aligned.
    """
    parts = [section_text(_spelt(section, spelt)) for section in words.sections()]
    trace = worked.steps()
    parts.append(f"{_heading('The worked example, every number')}\n\n{trace}\n\n{trace.layer()}")
    points = [
        "\n".join(
            wrap(
                spelt(point),
                WIDTH,
                initial_indent=f"{i}. ",
                subsequent_indent="   ",
                break_on_hyphens=False,
            )
        )
        for i, point in enumerate(words.recap(), 1)
    ]
    parts.append("\n".join([_heading("Recap"), "", *points]))
    parts.append(f"{_heading('What you can do now')}\n\n{checklist_text()}")
    return "\n\n\n".join(parts) + "\n"


def section_text(section: Section) -> str:
    """Return one section: its title, paragraphs and tables."""
    paragraphs = [
        "\n".join(wrap(text, WIDTH, break_on_hyphens=False)) for text in section.paragraphs
    ]
    tables = [table_text(table) for table in section.tables]
    return "\n\n".join([_heading(section.title), *paragraphs, *tables])


def _spelt(section: Section, spelt: Callable[[str], str]) -> Section:
    return replace(
        section,
        title=spelt(section.title),
        paragraphs=tuple(map(spelt, section.paragraphs)),
        tables=tuple(
            Table(
                spelt(table.caption),
                tuple(map(spelt, table.columns)),
                tuple(tuple(map(spelt, cells)) for cells in table.rows),
            )
            for table in section.tables
        ),
    )


def table_text(table: Table) -> str:
    """Return a table with aligned columns; long column heads are broken over lines."""
    heads = [_broken_head(text, cells) for text, cells in _columns(table)]
    height = max(len(head) for head in heads)
    lines = [
        tuple(([""] * (height - len(head)) + head)[level] for head in heads)
        for level in range(height)
    ]
    lines += table.rows
    sizes = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    laid = [
        "  "
        + "   ".join(
            cell.ljust(size) if column == 0 else cell.rjust(size)
            for column, (cell, size) in enumerate(zip(line, sizes, strict=True))
        ).rstrip()
        for line in lines
    ]
    rule = "  " + "-" * (sum(sizes) + 3 * (len(sizes) - 1))
    return "\n".join([*wrap(table.caption, WIDTH), "", *laid[:height], rule, *laid[height:]])


def checklist_text(solved: Collection[str] = ()) -> str:
    """Return the four skills with a tick in front of each one in `solved`."""
    return "\n".join(
        f"[{'x' if box.skill in solved else ' '}] {box.text}" for box in words.checklist()
    )


def _columns(table: Table) -> list[tuple[str, list[str]]]:
    return [
        (name, [line[column] for line in table.rows]) for column, name in enumerate(table.columns)
    ]


def _broken_head(text: str, cells: list[str]) -> list[str]:
    return wrap(text, max([_NARROWEST, *map(len, cells)]), break_on_hyphens=False) or [""]


def _heading(title: str) -> str:
    return f"{title}\n{'=' * len(title)}"
