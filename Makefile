# The commands of a checkout. Each sets up what it needs first; what is up to date is left alone.

.DEFAULT_GOAL := help
.PHONY: help setup run test lint bench lock

# The first Python that is new enough; else python3, for the sentence that says so. `make PYTHON=...` names another.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && exit; done; echo python3)
SETUP = @command -v $(PYTHON) >/dev/null || { echo "rota: no Python found; install Python 3.11 or newer." >&2; exit 2; }; \
	$(PYTHON) scripts/setup.py
ARGUMENTS ?=

help:
	@echo "make setup   virtual environment and front-end libraries"
	@echo "make run     set up and start Rota on 127.0.0.1:8000 (ROTA_PORT)"
	@echo "make test    set up and run all tests; ARGUMENTS='-k heap' goes to pytest"
	@echo "make lint    ruff and mypy"
	@echo "make bench   the programs in benchmarks/, each printing a table"
	@echo "make lock    the lock files anew from pyproject.toml and package.json"

setup:
	$(SETUP)

run:
	$(SETUP)
	@.venv/bin/python manage.py bootstrap
	@exec .venv/bin/python manage.py runscheduler --bind 127.0.0.1

test:
	$(SETUP) --tests
	.venv/bin/python -m pytest -n 2 --dist worksteal $(ARGUMENTS)

lint:
	$(SETUP) --tests
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

bench:
	$(SETUP) --tests
	@for program in benchmarks/[!_]*.py; do echo "== $$program"; .venv/bin/python $$program || exit; done

# For all of Python 3.11 to 3.13 on x86_64 and aarch64 at once. Without --upgrade what is locked stays locked.
LOCK = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header $(ARGUMENTS)
lock:
	$(SETUP) --tests
	$(LOCK) pyproject.toml -o requirements.lock
	$(LOCK) pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	$(LOCK) --group node -o requirements-node.lock
	npm install --package-lock-only --ignore-scripts
