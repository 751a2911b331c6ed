# The commands of the project; `make help` lists them. The work is done by tools/ and by `halfway`.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all check style types house check-slow bench java-hidden lock site wheel clean

BIN := .venv/bin
OUT ?= results/demo
PYTEST_FLAGS ?=
JOBS ?= auto
BENCH_FLAGS ?=
UPGRADE ?=

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
	@echo
	@echo "  Set-up happens by itself; PYTHON=/path/to/python3.12 chooses the Python (3.11 or newer)."

setup: ## Make .venv from the lock where it is missing or out of date (the others do so themselves)
	@for p in $$PYTHON python3 python3.13 python3.12 python3.11; do \
	  if [ "$$("$$p" -c 'print("runs")' 2>/dev/null)" = runs ]; then exec "$$p" tools/setup.py; fi; \
	done; echo "error: no python3 that runs; Halfway needs Python 3.11 or newer: install it first" >&2; exit 2

demo: setup ## The first paper's numbers beside the published ones, small scale; OUT=folder
	@$(BIN)/halfway reproduce directional-walks --scale quick --out $(OUT)
	@ls $(OUT)/*.html | sed 's/^/The page: /'

test: setup ## The tests of about a second at most, JOBS side by side; PYTEST_FLAGS="-k walks"
	@$(BIN)/pytest -n $(JOBS) --dist loadfile -m "not long" $(PYTEST_FLAGS)

test-all: setup ## All tests without the slow proofs, as in .ci/run
	@$(BIN)/pytest -n $(JOBS) --dist loadfile $(PYTEST_FLAGS)

check: style types house ## Style, types and the house tests

style: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup
	@$(BIN)/mypy
	@MYPYPATH=src:bench $(BIN)/mypy --config-file= --ignore-missing-imports --follow-imports=silent bench examples

house: setup
	@$(BIN)/pytest tests/house

check-slow: setup ## The proofs that take minutes
	@$(BIN)/pytest --slow -m slow $(PYTEST_FLAGS)

bench: setup ## Every benchmark, contenders side by side in one run; BENCH_FLAGS=--json
	@for f in $$(grep -l __main__ bench/*.py); do $(BIN)/python "$$f" $(BENCH_FLAGS) || exit 1; done

java-hidden: setup ## Proof that a machine without Java works: a small sweep with Java hidden
	@$(BIN)/python tools/java_hidden.py

lock: setup ## Resolve pyproject.toml into requirements.lock anew; UPGRADE=--upgrade
	@$(BIN)/python tools/lock.py $(UPGRADE)

site: setup ## The documentation as a folder of pages, site/index.html; no page loads from elsewhere
	@$(BIN)/python -m tools.documentation site

wheel: setup ## A wheel in dist/ with machine code for any x86-64 processor: its user compiles nothing
	@$(BIN)/python tools/wheel.py dist

clean: ## Remove the environment and all caches (results stay)
	@rm -rf .venv build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests bench tools -name __pycache__ -type d -prune -exec rm -rf {} +
