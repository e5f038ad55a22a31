# Every target does all its own set-up in .venv; nothing is installed outside the checkout.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: quickstart test lint bench docs clean

quickstart: .venv/.installed
	@$(BIN)/foltr run quickstart

test: lint
	$(BIN)/pytest -n 2 --dist worksteal

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.installed
	$(BIN)/foltr bench

docs: .venv/.installed-dev
	$(BIN)/python docs/generate.py

clean:
	rm -rf .venv build *.egg-info

.venv/.installed: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing foltr into .venv (once, about a minute)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e .
	@touch $@

.venv/.installed-dev: .venv/.installed
	@echo "installing the test tools into .venv (once, about a minute)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e ".[dev]"
	@touch $@
