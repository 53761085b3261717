"""A process that examines the cases it is told the numbers of, one a line, and answers in JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback

# CPU seconds that a case may take with all that is tried on it. What ends it is a signal, whatever
# compiled code is running.
LONGEST_CASE = 30.0


def main() -> None:
    seed, only = int(sys.argv[1]), tuple(name for name in sys.argv[2].split(",") if name)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    from .checks import examine
    from .failure import Failure
    from .problems import draw
    from .shrink import shrunk
    from .snippet import snippet

    for line in sys.stdin:
        number, _, check = line.strip().partition(" ")
        signal.setitimer(signal.ITIMER_PROF, LONGEST_CASE)
        case = draw(seed, int(number), only)
        if check:
            smaller = shrunk(case, check)
            failures = [f for f in examine(smaller) if f.check == check]
            answer = {"snippet": snippet(smaller, failures[0] if failures else None)}
        else:
            try:
                failures = examine(case)
            except Exception:
                failures = [Failure("fuzz", traceback.format_exc(limit=-3))]
            answer = {"failures": failures}
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
