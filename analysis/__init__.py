"""Logs -> answers: SQL over what a run wrote, curves, tables, verdicts, reports.

from analysis import open_run
with open_run(Path("runs/latest")) as run:
    run.rows("select round, value from metrics where name = 'ndcg_at_10'")
    run.sql("from updates").df()  # also .arrow() and .pl()
"""

from analysis.many import Runs, open_runs
from analysis.runs import Run, find_run, find_runs, open_run, runs_directory

__all__ = ["Run", "Runs", "find_run", "find_runs", "open_run", "open_runs", "runs_directory"]
