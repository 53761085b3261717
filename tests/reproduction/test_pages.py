"""Pages are made of the committed results and nothing else."""

import json
import re
from itertools import cycle

import pytest

from reproduction import items, pages
from reproduction.runs import RESULTS

# Items whose results have indices of samples, which cannot be changed without an error.
INDICES = {"figure-4.1", "report-figure-4"}
COMPUTED = [item for item in items.items().values() if pages.Shown(item).page is not None]


def test_a_page_for_every_item_and_all_in_the_index(tmp_path):
    pages.write(tmp_path / "drawn")
    index = (tmp_path / "drawn" / "verdicts.txt").read_text("utf-8")
    for item in items.items().values():
        stem = item.key.replace(".", "-")
        assert (tmp_path / "drawn" / f"{stem}.md").exists()
        assert f"(drawn/{stem}.md)" in index


def test_results_say_where_they_come_from():
    paths = sorted(RESULTS.glob("*.json"))
    assert paths
    for path in paths:
        record = json.loads(path.read_text("utf-8"))
        assert path.stem == record["key"]
        assert record["key"] in items.items()
        assert len(record["seeds"]) == record["repetitions"]
        assert record["commit"]
        assert "processor" in record["machine"]


def changed(value, factors):
    """Results with every number multiplied, by other factors each; names and such stay."""
    if isinstance(value, dict):
        return {name: changed(part, factors) for name, part in value.items()}
    if isinstance(value, list):
        return [changed(part, factors) for part in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return next(factors) * value + (1 if isinstance(value, int) else 0.5)


@pytest.mark.parametrize("item", COMPUTED, ids=lambda item: item.key)
def test_numbers_of_a_page_change_with_the_results(item, tmp_path):
    """What a page says of our computation comes from the results: change these, it changes."""
    record = json.loads((RESULTS / f"{item.results_key}.json").read_text("utf-8"))
    before = pages.page_text(pages.Shown(item))
    record["results"] = changed(record["results"], cycle((2, 3, 4, 5, 6)))
    (tmp_path / f"{item.results_key}.json").write_text(json.dumps(record), "utf-8")
    if item.key in INDICES:
        with pytest.raises(IndexError):
            pages.Shown(item, tmp_path)
        return
    after = pages.page_text(pages.Shown(item, tmp_path))
    assert re.findall(r"\d+", before) != re.findall(r"\d+", after)
