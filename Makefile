# make demo    train, certify and test a machine on data that ships with scikit-learn
# make test    lint, types, doctests and tests
# make test-nojit    the small problems among the tests, with compiled code as plain Python
# make test-oldest   a part of the tests, with the oldest versions that pyproject.toml allows
# make docs    build the documentation into docs/_build/html; needs no network
# make docs-test     look at every page of it in Chromium, and follow all links
# make release       build and check what is published, in dist/; uploads nothing
# make bench   time fits and predictions beside those of other libraries; an hour, wants quiet
# make reproduce     compute the tables and figures of the documents again; an hour, resumable
# make clean   remove .venv and everything generated
#
# Each target makes .venv and installs what it needs; test-oldest makes .venv-oldest. PYTHON=python3.12 chooses an interpreter,
# WORKERS=4 the number of test processes, BENCH=--quick the options of the benchmark,
# WHAT=7.2,9.1 and FULL=1 which tables and figures, and the documents' own repetitions.

PYTHON ?= python3
WORKERS ?= 2
BENCH ?= --all
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Some of scikit-learn's checks run only where SciPy takes arrays of other libraries.
# Tests start some two hundred processes, which load their modules faster with bytecode on disk.
SETTINGS := OPENBLAS_NUM_THREADS=1 SCIPY_ARRAY_API=1 PYTHONDONTWRITEBYTECODE=
SPREAD := --numprocesses=$(WORKERS) --dist=worksteal

# Kernel values, problems and certificates, the loop and its steps: what compiled code computes.
NOJIT := tests/dual tests/kernels/test_kernel_values.py tests/kernels/test_kernel_gradients.py \
  tests/kernels/vector/test_exp.py tests/solvers/smo tests/solvers/newton/test_step.py \
  tests/solvers/drivers/test_batch.py
# What leans on other libraries: kernel values, certificates, readers, files, estimators, commands.
OLDEST := tests/test_oldest.py tests/kernels/test_kernel_values.py \
  tests/kernels/vector/test_standard.py tests/dual tests/data tests/models \
  tests/estimators/test_sklearn_checks.py tests/estimators/linear/test_sklearn.py \
  tests/tuning/test_optimizers.py tests/report/test_html.py \
  tests/cli/test_choices.py tests/cli/test_commands.py tests/lab/test_server.py

.PHONY: demo test test-nojit test-oldest docs docs-test release bench reproduce clean

demo: .venv/for-use
	@$(BIN)/python examples/demo.py

test: .venv/for-development
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(SETTINGS) $(BIN)/pytest $(SPREAD)

test-nojit: .venv/for-development
	$(SETTINGS) NUMBA_DISABLE_JIT=1 $(BIN)/pytest $(SPREAD) $(NOJIT)

test-oldest: .venv-oldest/ready
	$(SETTINGS) MAXMARGIN_TESTS_OLDEST=1 .venv-oldest/bin/pytest $(SPREAD) $(OLDEST)

docs: .venv/for-docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -n -W --keep-going -q -b html docs docs/_build/html

docs-test: .venv/for-docs
	$(BIN)/pytest --rootdir=. -c pyproject.toml docs/checks

release: .venv/for-release
	$(BIN)/python -m benchmarks.release

bench: .venv/for-benchmarks
	$(BIN)/python -m benchmarks.speed $(BENCH)

reproduce: .venv/for-reproduction
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m reproduction $(if $(WHAT),'$(WHAT)') $(if $(FULL),--full)

clean:
	rm -rf .venv .venv-oldest .hypothesis .mypy_cache .ruff_cache .pytest_cache build dist
	rm -rf docs/_build docs/gallery docs/lectures docs/reference/generated docs/reference/*.rst docs/*/drawn
	find src tests examples benchmarks reproduction -name __pycache__ -prune -exec rm -rf {} +

.venv/for-use: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	touch $@

.venv/for-development: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[dev]'
	touch $@ .venv/for-use

.venv/for-docs: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[docs]'
	touch $@ .venv/for-use

.venv/for-reproduction: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[all]'
	touch $@ .venv/for-use

.venv/for-release: pyproject.toml | $(BIN)/python
	$(PIP) build twine
	touch $@

.venv/for-benchmarks: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[bench]' || \
	  { echo 'not every peer can be had here: going on without'; $(PIP) --editable '.[all]'; }
	touch $@ .venv/for-use

.venv-oldest/ready: pyproject.toml tests/oldest.txt | $(BIN)/python
	$(BIN)/python -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint tests/oldest.txt --editable '.[all]' \
	  hypothesis pandas pytest pytest-xdist quadprog skops
	touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'maxmargin needs Python 3.11 or later: make PYTHON=/path/to/python3.11 ...'; exit 1; }
	$(PYTHON) -m venv .venv
