# make demo    train, certify and test a machine on data that ships with scikit-learn
# make test    lint, types, doctests and tests
# make bench   time fits and predictions beside those of other libraries; an hour, wants quiet
# make clean   remove .venv and everything generated
#
# Each target makes .venv and installs what it needs. PYTHON=python3.12 chooses an interpreter,
# WORKERS=4 the number of test processes, BENCH=--quick the options of the benchmark.

PYTHON ?= python3
WORKERS ?= 2
BENCH ?= --all
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test bench clean

demo: .venv/for-use
	@$(BIN)/python examples/demo.py

test: .venv/for-development
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --numprocesses=$(WORKERS) --dist=worksteal

bench: .venv/for-benchmarks
	$(BIN)/python -m benchmarks.speed $(BENCH)

clean:
	rm -rf .venv .hypothesis .mypy_cache .ruff_cache .pytest_cache build dist
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} +

.venv/for-use: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	touch $@

.venv/for-development: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[dev]'
	touch $@ .venv/for-use

.venv/for-benchmarks: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[bench]' || \
	  { echo 'not every peer can be had here: going on without'; $(PIP) --editable '.[all]'; }
	touch $@ .venv/for-use

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'maxmargin needs Python 3.11 or later: make PYTHON=/path/to/python3.11 ...'; exit 1; }
	$(PYTHON) -m venv .venv
