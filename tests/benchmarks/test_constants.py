"""How many numeric constants the modules of the package have."""

from benchmarks import constants

# Constants of the package; lower it with them.
MOST = 203

SOURCE = """
ONE = 1
BYTES: int = 3 << 20
TWO, NAME, LOWEST = 2, "two", -1e-3
FIRST, SECOND = range(2)
TWICE = 2 * ONE
LARGEST = len(NAME)
LIST = (1, 2, 3)
FLAG = True

class Settings:
    most: int = 3

def double(x, factor=2):
    three = 3
    return factor * x
"""


def test_names_of_numbers_are_counted_and_nothing_else():
    found = constants.constants_of(SOURCE, "a/b.py")
    assert [constant.name for constant in found] == ["ONE", "BYTES", "TWO", "LOWEST"]
    assert {constant.folder for constant in found} == {"a"}


def test_list_and_totals_are_printed(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["constants", "--list"])
    constants.main()
    lines = capsys.readouterr().out.splitlines()
    count = len(constants.constants())
    assert lines[-1].split() == [str(count), "in", "all"]
    totals = [int(line.split()[0]) for line in lines[count:-1]]
    assert sum(totals) == count
    assert totals == sorted(totals, reverse=True)


def test_number_of_constants_does_not_grow():
    assert len(constants.constants()) <= MOST
