# Each target does all of its own set-up on a Debian machine as root; the second time it starts in seconds.
.PHONY: demo test thorough check lint types contracts bench clean

VENV := .venv
PY := $(VENV)/bin/python
BOXED := tests --ignore tests/unit -n 2 --dist worksteal

demo: $(VENV)/.ready
	@tools/engine
	@$(VENV)/bin/dualgate demo

test: check
	@tools/engine
	@tools/services
	@$(PY) -m pytest $(BOXED)

thorough: check
	@tools/engine
	@tools/services
	@$(PY) -m pytest $(BOXED) --thorough

check: lint types contracts $(VENV)/.ready
	@$(PY) -m pytest tests/unit

lint: $(VENV)/.ready
	@$(VENV)/bin/ruff check .

types: $(VENV)/.ready
	@$(VENV)/bin/mypy

contracts: $(VENV)/.ready
	@$(VENV)/bin/lint-imports --no-cache

bench: $(VENV)/.ready
	@tools/engine
	@$(PY) benchmarks/warm_ratio.py

$(VENV)/.ready: requirements.lock pyproject.toml tools/venv
	@tools/venv $(VENV)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
