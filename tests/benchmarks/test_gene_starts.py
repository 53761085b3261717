"""The example on gene starts, end to end on a small genome made up for it, and its page."""

import doctest
import lzma
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "gene_starts.py"
PAGE = ROOT / "docs" / "guide" / "sequences.md"
GENES = 60
TABLES = ("3-mer kernel", "triplet-weighting kernel")
METHODS = ("5-fold CV", "KTA", "span bound", "likelihood")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Genes of 120 letters, each with AGGAGG seven letters before its ATG."""
    random = np.random.default_rng(0)
    genome, starts = "", []
    for gene in range(GENES):
        before, space, coding = ("".join(random.choice(list("ACGT"), n)) for n in (60, 7, 111))
        genome += before + "AGGAGG" + space
        starts.append((len(genome) + 1, f"gene{gene}"))
        genome += "ATG" + coding
    folder = tmp_path_factory.mktemp("data")
    with lzma.open(folder / "ecoli_k12_mg1655.fna.xz", "wt") as file:
        file.write(f">made-up\n{genome}\n")
    lines = ["#start_pos\tstrand\tgene", *(f"{start}\t+\t{gene}" for start, gene in starts)]
    (folder / "ecoli_k12_verified_starts.tsv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("trials")


@pytest.fixture
def run(monkeypatch, capsys, folder, kept):
    def run(*arguments, data=folder):
        options = ("--quick", "--train", "40", "--keep", str(kept), *map(str, arguments))
        monkeypatch.setenv("MAXMARGIN_DATA", str(data))
        monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *options])
        runpy.run_path(str(EXAMPLE), run_name="__main__")
        return capsys.readouterr().out

    return run


def errors(out):
    """Mean test error by kernel and method, as printed."""
    found = {}
    for line in out.splitlines():
        if line in TABLES:
            table = line
        for method in METHODS:
            if line.startswith(method):
                found[table, method] = float(line.split(")")[1].split("±")[0])
    return found


@pytest.mark.filterwarnings("error")
def test_both_kernels_learn_the_signal_by_every_method(run):
    found = errors(run())
    assert set(found) == {(table, method) for table in TABLES for method in METHODS}
    assert max(found.values()) < 0.25


def test_triplets_are_ranked(run):
    out = run()
    assert "start codons: ATG " in out
    assert "in TAAGGAGGT: TAA " in out


def test_a_second_run_takes_finished_trials_as_they_are(run):
    assert run() == run()


def test_another_effort_is_another_trial(run):
    assert run("--effort", 0.02) != run()


def test_roc_curves_are_drawn_on_request(run, tmp_path):
    pytest.importorskip("matplotlib")
    run("--plot", tmp_path / "roc.png")
    assert (tmp_path / "roc.png").read_bytes().startswith(b"\x89PNG")


def test_absent_data_are_named(run, tmp_path):
    with pytest.raises(SystemExit, match=r"mg1655.fna.xz is absent: set MAXMARGIN_DATA"):
        run(data=tmp_path)


def test_one_split_is_refused(run):
    with pytest.raises(SystemExit):
        run("--splits", 1)


def test_examples_of_the_page_run():
    outcome = doctest.testfile(str(PAGE), module_relative=False)
    assert outcome.attempted > 10
    assert outcome.failed == 0
