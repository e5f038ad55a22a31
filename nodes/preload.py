"""What the forkserver imports before it forks nodes, so that ten of them start in well under a second.

The one module whose import does work, because importing is all that a forkserver can be told to do: it ties its own
life to the supervisor's and loads the compiled kernels, which every node then has from its first moment.
"""

import os

import setproctitle

import learning
import nodes.process  # noqa: F401 - for what it imports
from nodes.lifeline import die_with_parent

setproctitle.setproctitle("foltr forkserver")
os.setpgid(0, 0)  # a signal to the command's whole group is the supervisor's to hear; it stops the nodes cleanly
die_with_parent()
learning.warm()
