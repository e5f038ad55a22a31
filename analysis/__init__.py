"""Logs -> answers: SQL over what a run wrote, curves, tables, verdicts.

from analysis import open_run
with open_run(Path("runs/latest")) as run:
    run.rows("select round, value from metrics where name = 'ndcg_at_10'")
"""

from analysis.runs import Run, find_run, open_run, runs_directory

__all__ = ["Run", "find_run", "open_run", "runs_directory"]
