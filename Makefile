# Every target sets up .venv by itself; only Python 3.11 and make are needed.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Real traces are used where they lie next to the project and nothing else is set.
ifndef GSOPT_DATA
ifneq ($(wildcard ../shared/data),)
export GSOPT_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: demo test check bench notebooks format clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

demo: $(READY)          ## compare every method with the proven optimum
	$(BIN)/gsopt demo

test: $(READY)          ## the tests, on every core; one process after the other stays the default of pytest itself
	$(BIN)/pytest --numprocesses=logical --dist=worksteal

check: $(READY)         ## style, types, arrows between packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/nbstripout --verify notebooks/*.ipynb

bench: $(READY)         ## speed, as ratios within one run
	$(BIN)/pytest tests/benchmarks -o python_files='bench_*.py' --benchmark-only --benchmark-sort=name -s

notebooks: $(READY)     ## execute every notebook
	$(BIN)/jupyter execute notebooks/*.ipynb

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV)
