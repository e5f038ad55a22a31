"""How our pages look: one style sheet, light and dark by the reader's own setting, nothing fetched from anywhere."""

from html import escape
from typing import Final

__all__ = ["CHART_STYLE", "PAGE_STYLE", "VARIABLES", "document", "scoped"]

_LIGHT: Final = {
    "paper": "#ffffff", "ink": "#1c2024", "quiet": "#5b6570", "line": "#d5dae0", "soft": "#f4f6f8", "link": "#0058a3",
    "good": "#00664d", "bad": "#a8290b", "unsure": "#7a5200",
    "c0": "#0072b2", "c1": "#d55e00", "c2": "#009e73", "c3": "#b8578f", "c4": "#b07900", "c5": "#3b94cc",
    "c6": "#000000", "c7": "#8a8000", "fault": "#8a929b", "phase": "#56b4e9",
}  # fmt: skip
_DARK: Final = {
    "paper": "#14181c", "ink": "#e6e9ec", "quiet": "#9aa5b1", "line": "#343c45", "soft": "#1d2329", "link": "#7cc0ff",
    "good": "#4cc9a0", "bad": "#ff8a66", "unsure": "#e6b450",
    "c0": "#56b4e9", "c1": "#ff8c42", "c2": "#2fcf9f", "c3": "#e59ac4", "c4": "#e6ac27", "c5": "#9fd3f5",
    "c6": "#ffffff", "c7": "#f0e442", "fault": "#8a929b", "phase": "#3b94cc",
}  # fmt: skip
"""Okabe and Ito's colours, those that are faint on the paper made darker or lighter until they are not."""


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())


VARIABLES: Final = (
    f":root{{color-scheme:light dark;{_variables(_LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_variables(_DARK)}}}}}"
)


def scoped(scope: str, rules: str) -> str:
    """Flat rules that hold only within a scope: the style of a drawing on a page is that of the whole page else."""
    found = [rule.partition("{") for rule in rules.split("}") if rule]
    return "".join(
        ",".join(f"{scope} {selector}" for selector in selectors.split(",")) + f"{{{body}}}"
        for selectors, _, body in found
    )


CHART_STYLE: Final = VARIABLES + scoped(
    "svg.curves",
    "text{font:12px system-ui,sans-serif;fill:var(--quiet)}.name{font-size:13px;fill:var(--ink)}"
    ".grid{stroke:var(--line);fill:none}.axis{stroke:var(--quiet);fill:none}"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}.band{stroke:none;opacity:.2}"
    + "".join(f".line.c{at}{{stroke:var(--c{at})}}.band.c{at}{{fill:var(--c{at})}}" for at in range(8))
    + "rect.fault{fill:var(--fault);opacity:.14}rect.phase{fill:var(--phase);opacity:.14}",
)
"""What a drawing needs, inside it, so that it also looks right alone."""

PAGE_STYLE: Final = (
    VARIABLES
    + """
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:24px 20px 64px}
h1{font-size:1.7rem;line-height:1.2;margin:.2em 0 .4em}
h2{font-size:1.2rem;margin:2.2em 0 .6em;padding-top:.6em;border-top:1px solid var(--line)}
h3{font-size:1.02rem;margin:1.6em 0 .4em}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);outline-offset:2px}
p,li{max-width:75ch}
.quiet{color:var(--quiet)}
.held,.good{color:var(--good)}.failed,.bad{color:var(--bad)}.unknown,.unsure{color:var(--unsure)}
.badge{display:inline-block;padding:.05em .6em;border:1.5px solid currentColor;border-radius:1em}
.badge{font-weight:600;font-size:.9rem}
.figures{display:flex;flex-wrap:wrap;gap:12px;padding:0;margin:1em 0;list-style:none}
.figures li{background:var(--soft);border:1px solid var(--line);border-radius:8px;padding:8px 16px;min-width:8.5em}
.figures b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums;font-weight:600}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.93rem}
th,td{padding:.3em .9em .3em 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;white-space:nowrap}td.number,th.number{text-align:right}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.88rem}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:12px;overflow-x:auto;line-height:1.4}
code{overflow-wrap:anywhere}
figure{margin:1em 0}figure svg{display:block;width:100%;height:auto}figcaption{font-size:.9rem}
.legend{display:flex;flex-wrap:wrap;gap:.2em 1.6em;list-style:none;padding:0;margin:.4em 0}
.legend li{max-width:none}
.key{display:inline-block;width:1.3em;height:.35em;margin-right:.5em;vertical-align:middle;border-radius:2px}
.key.fault,.key.phase{height:.9em;opacity:.5}
nav ul{display:flex;flex-wrap:wrap;gap:.2em 1.2em;list-style:none;padding:0;font-size:.93rem}
.top{max-width:1080px;margin:0 auto;padding:12px 20px 0;display:flex;justify-content:space-between}
summary{cursor:pointer;font-weight:600;padding:.3em 0}
@media print{main{max-width:none}}
"""
    + "".join(f".key.c{at}{{background:var(--c{at})}}" for at in range(8))
    + ".key.fault{background:var(--fault)}.key.phase{background:var(--phase)}"
)


def document(title: str, body: str, head: str = "") -> str:
    """A whole page of HTML that needs nothing but itself; `body` and `head` are HTML already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{PAGE_STYLE}</style>{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
