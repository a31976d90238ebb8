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

# Tests start hundreds of processes: what each imports is compiled once, even where nothing is to be kept elsewhere.
export PYTHONDONTWRITEBYTECODE :=

# Benchmarks are files of their own, which pytest by itself passes over.
BENCH := $(BIN)/pytest tests/benchmarks -o python_files='bench_*.py'

# An executed notebook is as old as what it shows.
EXECUTED := $(patsubst %,build/%,$(wildcard notebooks/*.ipynb))
LIBRARY := $(shell find gsopt formulations heuristics instances -name '*.py')

.PHONY: demo test thorough check bench bench-once notebooks docs format clean

# The library alone is enough to try it; tests and checks need solvers, notebooks and tools too.
$(RUNS): pyproject.toml
	@$(PYTHON) .ci/install.py $(VENV)
	@touch $@

$(READY): pyproject.toml
	@$(PYTHON) .ci/install.py $(VENV) dev
	@touch $(RUNS) $@

demo: $(RUNS)           ## how far heuristics are from the proven optimum, in half a minute
	@$(BIN)/gsopt demo

test: $(READY)          ## the tests, on every core; pytest alone runs them in one process, as a debugger needs
	$(BIN)/pytest --numprocesses=logical --dist=worksteal

thorough: $(READY)      ## the tests, with every property on ten times as many random cases
	GSOPT_THOROUGH=1 $(BIN)/pytest --numprocesses=logical --dist=worksteal

check: $(READY)         ## style, types, arrows between packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/nbstripout --verify notebooks/*.ipynb

bench: $(READY)         ## speed, as ratios within one run
	$(BENCH) --benchmark-sort=name -s

bench-once: $(READY)    ## what the benchmarks assert, without those that take long
	$(BENCH) --benchmark-disable -m 'not slow'

notebooks: $(READY)     ## execute every notebook that, or whose library, is newer than its outputs
	@$(MAKE) --no-print-directory --jobs="$$(getconf _NPROCESSORS_ONLN)" $(EXECUTED)

build/notebooks/%.ipynb: notebooks/%.ipynb $(LIBRARY)
	$(BIN)/jupyter nbconvert --log-level=WARN --to notebook --execute --output-dir $(@D) $<

docs: notebooks         ## the site, with the executed notebooks and the API reference; a warning ends it
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --jobs=auto -d build/doctrees docs build/docs
	@echo build/docs/index.html

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build docs/commands docs/gallery docs/reference
