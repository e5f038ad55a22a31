"""What the forkserver imports before it forks nodes, so that ten of them start in well under a second.

The one module whose import does work, because importing is all that a forkserver can be told to do: it ties its own
life to the supervisor's and loads the compiled kernels, which every node then has from its first moment.
"""

import setproctitle

import learning
import nodes.process  # noqa: F401 - for what it imports
from nodes.lifeline import die_with_parent

setproctitle.setproctitle("foltr forkserver")
die_with_parent()
learning.warm()
