# Every target sets up .venv by itself; only Python 3.11 and make are needed.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RUNS := $(VENV)/.runs

# Real traces are used where they lie next to the project and nothing else is set.
ifndef GSOPT_DATA
ifneq ($(wildcard ../shared/data),)
export GSOPT_DATA := $(abspath ../shared/data)
endif
endif

# Benchmarks are files of their own, which pytest by itself passes over.
BENCH := $(BIN)/pytest tests/benchmarks -o python_files='bench_*.py'

.PHONY: demo test thorough check bench bench-once notebooks docs format clean

# The library alone is enough to try it; tests and checks need solvers, notebooks and tools too.
$(RUNS): pyproject.toml
	@$(PYTHON) .ci/install.py $(VENV)
	@touch $@

$(READY): pyproject.toml
	@$(PYTHON) .ci/install.py $(VENV) dev
	@touch $(RUNS) $@

demo: $(RUNS)           ## what published heuristics lose against the proven optimum, in half a minute
	@$(BIN)/gsopt demo

test: $(READY)          ## the tests, on every core; pytest alone runs them in one process, as a debugger needs
	$(BIN)/pytest --numprocesses=logical --dist=worksteal

thorough: $(READY)      ## the tests, with every property on three times as many random cases
	GSOPT_THOROUGH=1 $(BIN)/pytest --numprocesses=logical --dist=worksteal

check: $(READY)         ## style, types, arrows between packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/nbstripout --verify notebooks/*.ipynb

bench: $(READY)         ## speed, as ratios within one run
	$(BENCH) --benchmark-only --benchmark-sort=name -s

bench-once: $(READY)    ## what the benchmarks assert, without those that take long
	$(BENCH) --benchmark-disable -m 'not slow'

notebooks: $(READY)     ## execute every notebook, one on each core
	printf '%s\n' notebooks/*.ipynb | xargs -n 1 -P "$$(getconf _NPROCESSORS_ONLN)" $(BIN)/jupyter execute

docs: $(READY)           ## the API reference, as HTML out of the docstrings
	$(BIN)/python .ci/reference.py build/docs

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build
