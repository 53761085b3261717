"""Oligo kernels against integrals, double loops, limits and central differences."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from maxmargin.kernels import (
    CombinedOligo,
    EncodedSequences,
    Normalised,
    Oligo,
    TripletOligo,
    WeightedOligo,
)

RNG = np.random.default_rng(13)
UNEQUAL = ["".join(RNG.choice(list("ACGTN"), size=RNG.integers(0, 40))) for _ in range(25)]
EQUAL = ["".join(letters) for letters in RNG.choice(list("ACGT"), size=(30, 24))]
SIGMAS = (0.4, 0.8, 1.3, 2.0, 3.0, 5.0)
LAMBDAS = (0.2, 1.0, 3.0, 0.7, 0.0, 2.0)
TRIPLET_WEIGHTS = RNG.uniform(0.1, 3.0, size=64)
KERNELS = [
    Oligo(k=1, sigma=0.7, normalised=False),
    Oligo(k=3, sigma=1.3),
    Oligo(k=3, sigma=1.3, normalised=False),
    CombinedOligo(SIGMAS),
    WeightedOligo(SIGMAS, LAMBDAS),
    TripletOligo(1.2, TRIPLET_WEIGHTS),
    TripletOligo(1.2, TRIPLET_WEIGHTS, normalised=False),
]
dna = st.text(alphabet="ACGTN", max_size=30)
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)


def positions(x, k, alphabet="ACGT"):
    """S_ω^x for every K-mer ω of x."""
    found = {}
    for p in range(len(x) - k + 1):
        if set(x[p : p + k]) <= set(alphabet):
            found.setdefault(x[p : p + k], []).append(p)
    return found


def naive_oligo(x, y, k, sigma, weight=lambda _: 1.0):
    S, T = positions(x, k), positions(y, k)
    return sum(
        weight(w) * np.exp(-((p - q) ** 2) / (4 * sigma**2))
        for w in S
        for p in S[w]
        for q in T.get(w, [])
    )


def naive_normalised(x, y, *arguments):
    norms = naive_oligo(x, x, *arguments) * naive_oligo(y, y, *arguments)
    return naive_oligo(x, y, *arguments) / np.sqrt(norms) if norms > 0 else 0.0


def naive_matrix(kernel, A, B):
    return np.array([[kernel(a, b) for b in B] for a in A], dtype=float)


def contraction_by_differences(kernel, A, B, W, h=1e-5):
    steps = h * np.eye(len(kernel.theta))
    return [
        np.sum(W * (kernel.moved(step)(A, B) - kernel.moved(-step)(A, B))) / (2 * h)
        for step in steps
    ]


def assert_gradient_is_exact(kernel, A, B):
    W = np.random.default_rng(5).normal(size=(len(A), len(A if B is None else B)))
    found = kernel.gradient(A, B, W)
    assert found.shape == kernel.theta.shape
    scale = np.abs(W).sum() * np.abs(kernel(A, B)).max()
    np.testing.assert_allclose(
        found, contraction_by_differences(kernel, A, B, W), rtol=1e-6, atol=1e-10 * scale
    )


@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0])
def test_kernel_is_the_integral_of_products_of_oligo_functions(sigma):
    x, y = "ATAGTAGC", "TAGATTAG"

    def oligo_function(places, t):
        return sum(np.exp(-((t - p) ** 2) / (2 * sigma**2)) for p in places)

    S, T = positions(x, 3), positions(y, 3)
    integral = sum(
        quad(
            lambda t, w=w: oligo_function(S[w], t) * oligo_function(T[w], t),
            -12 * sigma,
            8 + 12 * sigma,
            limit=500,
        )[0]
        for w in S.keys() & T.keys()
    )
    found = Oligo(3, sigma, normalised=False)([x], [y])[0, 0]
    assert np.sqrt(np.pi) * sigma * found == pytest.approx(integral, rel=1e-9)


@given(st.lists(dna, max_size=5), st.lists(dna, max_size=5), st.integers(1, 6), st.floats(0.05, 50))
def test_oligo_equals_the_double_loop(A, B, k, sigma):
    found = Oligo(k, sigma, normalised=False)(A, B)
    expected = naive_matrix(lambda x, y: naive_oligo(x, y, k, sigma), A, B).reshape(found.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


@given(st.lists(dna, max_size=5), st.integers(1, 6), st.floats(0.05, 50))
def test_normalised_oligo_equals_the_double_loop(A, k, sigma):
    found = Oligo(k, sigma)(A)
    expected = naive_matrix(lambda x, y: naive_normalised(x, y, k, sigma), A, A)
    np.testing.assert_allclose(found, expected.reshape(found.shape), rtol=1e-13, atol=1e-15)


def test_combined_is_the_sum_of_the_normalised_kernels():
    expected = naive_matrix(
        lambda x, y: sum(naive_normalised(x, y, k + 1, s) for k, s in enumerate(SIGMAS)),
        UNEQUAL,
        EQUAL[:5],
    )
    np.testing.assert_allclose(CombinedOligo(SIGMAS)(UNEQUAL, EQUAL[:5]), expected, rtol=1e-13)


def test_weighted_is_the_weighted_sum_of_the_normalised_kernels():
    expected = sum(
        weight * Oligo(k, sigma)(UNEQUAL, EQUAL)
        for k, (sigma, weight) in enumerate(zip(SIGMAS, LAMBDAS), start=1)
    )
    np.testing.assert_allclose(WeightedOligo(SIGMAS, LAMBDAS)(UNEQUAL, EQUAL), expected, rtol=1e-13)


@pytest.mark.parametrize("normalised", [True, False])
def test_triplet_kernel_weights_every_triplet(normalised):
    names = ["".join(letters) for letters in product("ACGT", repeat=3)]
    weight = dict(zip(names, TRIPLET_WEIGHTS)).__getitem__
    naive = naive_normalised if normalised else naive_oligo
    expected = naive_matrix(lambda x, y: naive(x, y, 3, 1.2, weight), UNEQUAL, EQUAL[:5])
    found = TripletOligo(1.2, TRIPLET_WEIGHTS, normalised)(UNEQUAL, EQUAL[:5])
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-17)


def test_triplet_weights_by_name_leave_the_others_at_one():
    kernel = TripletOligo(weights={"ATG": 4.0})
    assert kernel.weights[kernel.triplets.index("ATG")] == 4.0
    assert sum(kernel.weights) == 67.0


def test_triplet_kernel_with_equal_weights_is_the_3_mer_kernel():
    equal = TripletOligo(1.3, np.full(64, 2.5))
    np.testing.assert_allclose(equal(UNEQUAL, EQUAL), Oligo(3, 1.3)(UNEQUAL, EQUAL), rtol=1e-13)


def test_small_sigma_counts_matches_at_equal_positions():
    def hamming_matches(x, y):
        return sum(x[p : p + 3] == y[p : p + 3] for p in range(len(x) - 2))

    found = Oligo(3, 1e-3, normalised=False)(EQUAL)
    np.testing.assert_array_equal(found, naive_matrix(hamming_matches, EQUAL, EQUAL))


def test_smallest_sigma_a_float_can_hold_is_no_special_case():
    tiny = Oligo(3, 5e-324, normalised=False)
    np.testing.assert_array_equal(tiny(EQUAL), Oligo(3, 1e-3, normalised=False)(EQUAL))
    assert tiny.gradient(EQUAL, None, np.ones((30, 30))) == 0.0


def test_large_sigma_is_the_spectrum_kernel():
    kmers = ["".join(letters) for letters in product("ACGT", repeat=2)]
    counts = np.array([[len(positions(x, 2).get(w, [])) for w in kmers] for x in UNEQUAL])
    found = Oligo(2, 1e9, normalised=False)(UNEQUAL)
    np.testing.assert_allclose(found, counts @ counts.T, rtol=1e-12)


@each_kernel
def test_gram_matrix_is_positive_semi_definite(kernel):
    K = kernel(UNEQUAL + EQUAL)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * K.max()


@each_kernel
def test_gradient_is_that_of_central_differences(kernel):
    assert_gradient_is_exact(kernel, UNEQUAL, EQUAL[:9])


@each_kernel
def test_gradient_on_one_list_is_that_of_central_differences(kernel):
    assert_gradient_is_exact(kernel, UNEQUAL, None)


@each_kernel
def test_gradient_of_the_diagonal_is_that_of_a_diagonal_weight(kernel):
    w = RNG.normal(size=len(UNEQUAL))
    expected = kernel.gradient(UNEQUAL, None, np.diag(w))
    found = kernel.diagonal_gradient(UNEQUAL, w)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_gradient_on_one_list_is_that_on_two_copies_of_it():
    many = ["".join(letters) for letters in RNG.choice(list("ACGT"), size=(300, 12))]
    W = RNG.normal(size=(300, 300))
    kernel = TripletOligo(1.2, TRIPLET_WEIGHTS)
    np.testing.assert_allclose(
        kernel.gradient(many, None, W), kernel.gradient(many, list(many), W), rtol=1e-9
    )


@pytest.mark.parametrize("other", [None, EQUAL])
def test_gradient_takes_weights_in_any_order_and_leaves_them_alone(other):
    W = RNG.normal(size=(25, 25 if other is None else 30))
    W.flags.writeable = False
    kernel = TripletOligo(1.2, TRIPLET_WEIGHTS)
    found = kernel.gradient(UNEQUAL, other, np.asfortranarray(W))
    np.testing.assert_array_equal(found, kernel.gradient(UNEQUAL, other, W))


def test_composed_kernels_take_sequences():
    inside = TripletOligo(1.2, TRIPLET_WEIGHTS, normalised=False)
    whole = TripletOligo(1.2, TRIPLET_WEIGHTS)
    W = RNG.normal(size=(25, 30))
    np.testing.assert_allclose(
        Normalised(inside)(UNEQUAL, EQUAL), whole(UNEQUAL, EQUAL), rtol=1e-13
    )
    np.testing.assert_allclose(
        Normalised(inside).gradient(UNEQUAL, EQUAL, W),
        whole.gradient(UNEQUAL, EQUAL, W),
        atol=1e-12,
    )


def test_sum_of_scaled_kernels_is_the_weighted_kernel():
    parts = 0.5 * Oligo(1, 2.0) + 3.0 * Oligo(2, 0.7)
    whole = WeightedOligo((2.0, 0.7), (0.5, 3.0))
    np.testing.assert_allclose(
        parts.bind(UNEQUAL).matrix(), whole.bind(UNEQUAL).matrix(), rtol=1e-13
    )
    W = RNG.normal(size=(25, 25))
    np.testing.assert_allclose(
        parts.gradient(UNEQUAL, None, W)[[1, 3, 0, 2]], whole.gradient(UNEQUAL, None, W), atol=1e-12
    )


@each_kernel
def test_gram_matrix_is_exactly_symmetric(kernel):
    K = kernel(UNEQUAL + EQUAL)
    np.testing.assert_array_equal(K, K.T)


def test_common_factor_of_triplet_weights_has_no_slope_after_normalisation():
    W = RNG.normal(size=(len(UNEQUAL), len(EQUAL)))
    by_weight = TripletOligo(1.2, TRIPLET_WEIGHTS).gradient(UNEQUAL, EQUAL, W)[1:]
    assert abs(by_weight.sum()) <= 1e-12 * np.abs(W).sum()


@each_kernel
def test_diagonal_is_that_of_the_gram_matrix(kernel):
    np.testing.assert_array_equal(kernel.diagonal(UNEQUAL), np.diag(kernel(UNEQUAL)))


@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bound_rows_are_those_of_the_matrix(kernel, dtype):
    K = kernel(UNEQUAL)
    rows = kernel.bind(UNEQUAL, dtype).rows(np.array([7, 0, 7, 24]))
    assert rows.dtype == dtype
    np.testing.assert_allclose(rows, K[[7, 0, 7, 24]], rtol=8 * np.finfo(dtype).eps)


@each_kernel
def test_bound_rows_can_be_restricted_to_columns(kernel):
    K, gram = kernel(UNEQUAL), kernel.bind(UNEQUAL)
    for columns in ([5, 3, 20, 0], [3, 20, 0], [20, 0], [1, 2], [2, 1], []):
        found = gram.rows(np.array([3, 4]), np.array(columns, dtype=int))
        np.testing.assert_allclose(found, K[[3, 4]][:, columns], rtol=1e-14)


def test_bound_rows_can_be_written_in_place():
    out = np.full((2, len(UNEQUAL)), np.nan, dtype=np.float32)
    gram = Oligo(3).bind(UNEQUAL, np.float32)
    assert gram.rows(np.array([1, 2]), out=out) is out
    np.testing.assert_array_equal(out, gram.rows(np.arange(gram.n))[[1, 2]])


def test_bind_encodes_once(monkeypatch):
    gram = CombinedOligo().bind(UNEQUAL)
    expected = gram.rows(np.arange(gram.n))
    for method in ("__init__", "_grouped", "_inverted"):
        monkeypatch.setattr(EncodedSequences, method, None)
    np.testing.assert_array_equal(gram.rows(np.array([2])), expected[[2]])


@each_kernel
def test_encoded_sequences_serve_as_input(kernel):
    encoded = EncodedSequences(UNEQUAL)
    expected = kernel([UNEQUAL[4], UNEQUAL[2]], UNEQUAL)
    np.testing.assert_array_equal(kernel(encoded[[4, 2]], encoded), expected)


def test_encoded_sequences_of_another_alphabet_are_refused():
    with pytest.raises(ValueError, match=r"A is encoded over the alphabet 'AB'.*'ACGT'"):
        Oligo()(EncodedSequences(["AB"], alphabet="AB"))


@pytest.mark.parametrize("mask", [np.arange(25) % 3 == 0, slice(2, 9), [3, 3, -1]])
def test_encoded_sequences_are_selected_like_an_array(mask):
    chosen = np.array(UNEQUAL, dtype=object)[mask].tolist()
    np.testing.assert_array_equal(
        EncodedSequences(UNEQUAL)[mask].letters, EncodedSequences(chosen).letters
    )


@pytest.mark.parametrize(
    "same",
    [
        [x.lower() for x in UNEQUAL],
        [x.encode() for x in UNEQUAL],
        tuple(UNEQUAL),
        np.array(UNEQUAL),
        np.array(UNEQUAL, dtype=object),
        np.array([x.encode() for x in UNEQUAL]),
        np.array(UNEQUAL, dtype=np.dtypes.StringDType()),
    ],
    ids=["lower case", "bytes", "tuple", "U array", "object array", "S array", "StringDType"],
)
def test_every_form_of_the_same_sequences_gives_the_same_matrix(same):
    np.testing.assert_array_equal(Oligo(2)(same), Oligo(2)(UNEQUAL))


def test_unknown_letters_match_nothing_not_even_themselves():
    kernel = Oligo(2, 1e9, normalised=False)
    np.testing.assert_array_equal(
        kernel(["ACNNGT", "AC-GT"], ["NN", "AC", "GTé"]), [[0, 1, 1], [0, 1, 1]]
    )


@each_kernel
def test_sequence_without_k_mers_is_zero(kernel):
    K = kernel(["", "N", "NNNNNNNN", "ACGTAC"])
    assert not K[:3].any()
    assert not K[:, :3].any()
    assert K[3, 3] > 0


def test_sequence_shorter_than_k_is_zero_also_normalised():
    np.testing.assert_array_equal(Oligo(3)(["AC", "ACG"]), [[0, 0], [0, 1]])


@each_kernel
def test_gradient_of_sequences_without_k_mers_is_zero(kernel):
    zero = kernel.gradient(["", "N"], ["ACG", "NN"], np.ones((2, 2)))
    np.testing.assert_array_equal(zero, np.zeros(len(kernel.theta)))


@each_kernel
def test_empty_list_gives_an_empty_block(kernel):
    assert kernel([], UNEQUAL).shape == (0, 25)
    assert kernel(UNEQUAL, []).shape == (25, 0)


@given(st.lists(st.text("abcxyzäß€ ", max_size=12), min_size=1, max_size=4))
def test_any_alphabet_will_do(A):
    alphabet = "abcxyzä€"
    expected = naive_matrix(
        lambda x, y: sum(
            len(S) * len(positions(y, 2, alphabet).get(w, []))
            for w, S in positions(x, 2, alphabet).items()
        ),
        A,
        A,
    )
    found = Oligo(2, 1e9, normalised=False, alphabet=alphabet)(A)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_long_k_mers_over_a_large_alphabet_are_told_apart():
    protein = "ACDEFGHIKLMNPQRSTVWY"
    kernel = Oligo(12, 1.0, alphabet=protein)
    x = "ACDEFGHIKLMN"
    np.testing.assert_array_equal(kernel([x], [x, "C" + x[1:], x[:-1] + "P"]), [[1, 0, 0]])


def test_long_sequences_at_small_sigma_match_only_nearby():
    long = "".join(np.random.default_rng(1).choice(list("ACGT"), size=3000))
    shifted = "A" + long
    found = Oligo(6, 0.5, normalised=False)([long], [shifted])[0, 0]
    assert found == pytest.approx(naive_oligo(long, shifted, 6, 0.5), rel=1e-12)


@each_kernel
def test_moving_adds_to_theta(kernel):
    delta = np.random.default_rng(2).normal(size=len(kernel.theta))
    np.testing.assert_allclose(kernel.moved(delta).theta, kernel.theta + delta, atol=1e-14)
    assert type(kernel.moved(delta)) is type(kernel)


@each_kernel
def test_every_coordinate_has_its_own_name(kernel):
    assert len(set(kernel.parameter_names)) == len(kernel.theta)


@each_kernel
def test_kernel_survives_pickling_and_compares_by_value(kernel):
    copy = pickle.loads(pickle.dumps(kernel))
    assert copy == kernel
    assert hash(copy) == hash(kernel)
    assert kernel.moved(np.ones(len(kernel.theta))) != kernel


def test_repr_can_be_read_back():
    kernel = Oligo(k=np.int64(4), sigma=np.float64(0.25), normalised=False, alphabet="01")
    assert eval(repr(kernel)) == kernel


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Oligo(k=0), "k must be an integer of at least 1, got 0"),
        (lambda: Oligo(k=2.5), "k must be an integer of at least 1, got 2.5"),
        (lambda: Oligo(k=31), r"k must satisfy len\(alphabet\)\*\*k < 2\*\*62, got k = 31"),
        (lambda: Oligo(sigma=0.0), "sigma must be positive, got 0.0"),
        (lambda: Oligo(sigma=np.inf), "sigma must be finite, got inf"),
        (lambda: Oligo(alphabet="ACGTa"), "alphabet must be a string of letters that differ"),
        (lambda: Oligo(alphabet=""), "alphabet must be a string of letters that differ"),
        (lambda: CombinedOligo(sigmas=()), "sigmas must have at least one entry"),
        (lambda: CombinedOligo(sigmas=(1, -2)), "sigmas must be positive, got -2"),
        (lambda: WeightedOligo((1, 1), (1,)), "weights must have 2 entries, got 1"),
        (lambda: TripletOligo(weights=np.full(64, -1)), "weights must not be negative"),
        (lambda: TripletOligo(weights={"AUG": 1}), "weights must be keyed by triplets.*'AUG'"),
        (lambda: Oligo().moved([1, 2]), r"delta must have one entry for each of \('log_sigma',\)"),
        (
            lambda: Oligo().gradient(["A"], None, np.ones(3)),
            r"W must have shape \(1, 1\), .* got \(3,\)",
        ),
        (lambda: Oligo()(np.zeros((2, 3))), r"A must be a list or 1-D array .* shape \(2, 3\)"),
        (lambda: Oligo()(["A"], np.array("A")), r"B must be a list or 1-D array .* shape \(\)"),
    ],
)
def test_bad_value_is_named_in_the_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Oligo()("ACGT"), "A must be a list .* got a single str; put it into a list"),
        (lambda: Oligo()(["A"], b"ACGT"), "B must be a list .* got a single bytes"),
        (lambda: Oligo().bind([1.0]), "X must contain str or bytes, got float at position 0"),
        (lambda: Oligo()(["A", None]), "A must contain str or bytes, got NoneType at position 1"),
        (lambda: Oligo()(np.zeros(3)), "A must contain str or bytes, got float at position 0"),
        (lambda: Oligo().diagonal([["A"]]), "A must contain str or bytes, got list at position 0"),
    ],
)
def test_input_that_is_no_sequence_is_named_in_the_error(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_oligomers_of_up_to_six_letters_are_combined_by_default():
    assert CombinedOligo().sigmas == WeightedOligo().sigmas == (1.0,) * 6
    assert WeightedOligo().weights == (1.0,) * 6
