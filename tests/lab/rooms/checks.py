"""What the tests of all rooms share."""

import contextlib
import io
import json


def as_json(answer):
    """The answer as a browser gets it; NaN or another type than JSON's fails."""
    return json.loads(json.dumps(answer, allow_nan=False))


def run_code(code):
    """What the lines of "show me the code" print, as a script would."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "shown code", "exec"), {"__name__": "__main__"})
    return printed.getvalue()
