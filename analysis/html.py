"""Small pieces of HTML: tables, lists of figures, blocks of text; everything that comes from a log is escaped."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["block", "figures", "section", "table", "told"]


def told(value: Any) -> str:
    """A value as text for a reader."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4f}" if abs(value) >= 0.0001 or value == 0 else f"{value:.3g}"
    if isinstance(value, list):
        return ", ".join(map(told, value[:6])) + (f" and {len(value) - 6:,} more" if len(value) > 6 else "")
    return str(value)


def table(rows: Sequence[Mapping[str, Any]], caption: str) -> str:
    """Rows that have the same keys; a column without any value is left out. Scrolls sideways where it is too wide."""
    if not rows:
        return ""
    columns = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    numeric = {name for name in columns if all(isinstance(row[name], int | float | None) for row in rows)}
    head = "".join(f'<th scope="col"{_number(name in numeric)}>{escape(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td{_number(name in numeric)}>{escape(told(row[name]))}</td>" for name in columns) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def figures(facts: Mapping[str, str]) -> str:
    """Large numbers with what they are."""
    entries = "".join(f"<li><b>{escape(value)}</b>{escape(name)}</li>" for name, value in facts.items())
    return f'<ul class="figures">{entries}</ul>'


def block(text: str) -> str:
    """Text as it is, for commands and files."""
    return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'


def section(title: str, body: str, name: str) -> str:
    """A part of a page with its heading, which links can name; nothing if there is nothing in it."""
    return f'<section><h2 id="{name}">{escape(title)}</h2>{body}</section>' if body else ""


def _number(yes: bool) -> str:
    return ' class="number"' if yes else ""
