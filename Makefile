# Every target sets up what it needs; a bare Python 3.11 is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# One torch thread per process: two-threaded torch collapses when the other core is busy.
export OMP_NUM_THREADS := 1
export MPLBACKEND := agg

.PHONY: setup demo quick test bench simulate evidence clean

setup: $(VENV)/.ready

# torch is pinned by the constraints file; without it pip may choose a build of several gigabytes.
$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'smoothcert needs Python 3.11 or newer: make PYTHON=python3.11 setup')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

demo: setup
	$(BIN)/python -m smoothcert demo --out demo

quick: setup
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Rivals run with torch's own threads, so the setting above is taken back.
bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	env -u OMP_NUM_THREADS $(BIN)/python -m benchmarks.run $(if $(ONLY),--only $(ONLY))

# From costs that `python -m benchmarks.simulation.measure` has measured: the figure and tables of docs/capacity.md.
simulate: setup
	$(BIN)/python -m benchmarks.simulation.run

evidence: setup
	$(BIN)/python -m evidence.make $(ONLY)

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
