"""A search for inputs on which a fit is not what its certificate says.

    python -m tests.fuzz --seconds 60                    a minute of random problems
    python -m tests.fuzz --seed 123 --case 45            one problem again
    python -m tests.fuzz --only SVC,SVR --seconds 3600   an hour of two estimators
    python -m tests.fuzz --files                         forged files as well

`problems` draws a problem from a seed, `certify` recomputes the certificate of a fitted model from
its public attributes in extended precision, `checks` compares the two and tries what else is
promised, `search` runs cases in a process of their own, `shrink` and `snippet` make a failure short
enough to read.
"""
