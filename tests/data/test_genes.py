"""True and false gene starts on genomes small enough to read, and on E. coli."""

from collections import Counter

import numpy as np
import pytest
import realdata

from maxmargin.data import (
    GeneStart,
    read_fasta,
    read_gene_starts,
    reverse_complement,
    start_sites,
)

STOP = "TAA"


def windows(genome, *starts, **options):
    sites = start_sites(genome, starts, **{"upstream": 0, "downstream": 6, **options})
    return dict(zip(sites.sequences.tolist(), sites.labels.tolist()))


def test_window_has_so_many_letters_before_and_from_the_start_codon_on():
    genome = "CACACACAC" + "ATGCCC" + STOP
    assert windows(genome, GeneStart(10, "+"), upstream=4, downstream=5) == {"ACACATGCC": 1}


def test_start_on_the_other_strand_is_read_backwards():
    genome = "AC" * 10 + STOP + "ATGCCC" + STOP + "GT"
    mirrored = reverse_complement(genome)
    last = len(genome) - genome.index("ATG")
    forward = start_sites(genome, [GeneStart(24, "+")])
    backward = start_sites(mirrored, [GeneStart(last, "-")])
    assert forward.sequences.tolist() == backward.sequences.tolist()
    assert forward.sequences[0][32:35] == "ATG"


@pytest.mark.parametrize("codon", ["ATG", "GTG", "TTG"])
def test_start_codons_in_frame_on_both_sides_are_false_starts(codon):
    genome = STOP + codon + "AAA" + "ATGCCC" + codon + "GGG" + STOP
    expected = {codon + "AAA": -1, "ATGCCC": 1, codon + "GGG": -1}
    assert windows(genome, GeneStart(10, "+")) == expected


def test_codon_out_of_frame_is_no_false_start():
    assert windows(STOP + "ATGCATGCC" + STOP, GeneStart(4, "+")) == {"ATGCAT": 1}


@pytest.mark.parametrize("stop", ["TAA", "TAG", "TGA"])
def test_nothing_beyond_a_stop_codon_is_a_false_start(stop):
    genome = STOP + "GTGAAA" + stop + "ATGCCC" + stop + "TTGAAA" + STOP
    assert windows(genome, GeneStart(13, "+")) == {"ATGCCC": 1}


@pytest.mark.parametrize(("distance", "labels"), [(78, {1, -1}), (81, {1})])
def test_false_starts_are_closer_than_80_nucleotides(distance, labels):
    genome = STOP + "ATG" + "C" * (distance - 3) + "GTGCCC" + STOP
    assert set(windows(genome, GeneStart(4, "+")).values()) == labels


def test_true_start_is_no_false_start_of_another():
    genome = STOP + "ATGCCC" + "GTGAAA" + STOP
    both = windows(genome, GeneStart(4, "+"), GeneStart(10, "+"))
    assert both == {"ATGCCC": 1, "GTGAAA": 1}


def test_false_start_belongs_to_one_gene_only():
    genome = STOP + "ATGCCC" + "TTGAAA" + "GTGAAA" + STOP
    sites = start_sites(genome, [GeneStart(4, "+"), GeneStart(16, "+")])
    assert sites.labels.tolist() == [1, 1, -1]
    assert sites.genes.tolist() == [0, 1, 0]


def test_repeated_start_counts_once():
    genome = STOP + "ATGCCC" + "TTGAAA" + STOP
    once = start_sites(genome, [GeneStart(4, "+")])
    twice = start_sites(genome, [GeneStart(4, "+"), GeneStart(4, "+", "again")])
    for a, b in zip(once, twice):
        np.testing.assert_array_equal(a, b)


def test_genome_is_a_circle():
    assert windows("GCCC" + STOP + "AT", GeneStart(8, "+")) == {"ATGCCC": 1}


def test_genome_may_be_in_lower_case():
    assert windows("taaatgcccgtgaaataa", GeneStart(4, "+")) == {"ATGCCC": 1, "GTGAAA": -1}


@pytest.mark.parametrize(
    ("start", "options", "message"),
    [
        (GeneStart(0, "+"), {}, "starts must lie in 1…12, the genome"),
        (GeneStart(13, "-"), {}, "starts must lie in 1…12, the genome"),
        (GeneStart(4, "."), {}, r"strand '\+' or '-', got '\.'"),
        (GeneStart(4, "+"), {"upstream": -1}, "upstream must be at least 0"),
        (GeneStart(4, "+"), {"downstream": 0}, "downstream at least 1"),
    ],
)
def test_bad_argument_is_named(start, options, message):
    with pytest.raises(ValueError, match=message):
        start_sites("TAAATGCCCTAA", [start], **options)


def test_table_of_starts_is_read_by_the_names_of_its_columns(tmp_path):
    path = tmp_path / "starts.tsv"
    path.write_text("#gene\tstrand\tleft\tstart_pos\nthrA\t+\t1\t337\n")
    assert read_gene_starts(path) == [GeneStart(337, "+", "thrA")]


def test_table_without_a_needed_column_is_refused(tmp_path):
    path = tmp_path / "starts.tsv"
    path.write_text("gene\tleft\nthrA\t1\n")
    with pytest.raises(ValueError, match=r"columns \['start_pos', 'strand'\]"):
        read_gene_starts(path)


@pytest.fixture(scope="module")
def ecoli():
    place = realdata.folder()
    if place is None:
        pytest.skip(realdata.ABSENT)
    (genome,) = read_fasta(place / "ecoli_k12_mg1655.fna.xz")
    return start_sites(genome.sequence, read_gene_starts(place / "ecoli_k12_verified_starts.tsv"))


def test_ecoli_has_769_true_and_1296_false_starts(ecoli):
    assert Counter(ecoli.labels.tolist()) == {1: 769, -1: 1296}


def test_ecoli_start_codons_are_those_its_table_lists(ecoli):
    codons = Counter(sequence[32:35] for sequence in ecoli.sequences[ecoli.labels > 0])
    assert codons == {"ATG": 699, "GTG": 54, "TTG": 16}


def test_no_window_of_ecoli_repeats(ecoli):
    assert len(set(ecoli.sequences.tolist())) == len(ecoli.sequences)
