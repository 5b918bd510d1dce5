# Two commands set everything up on a fresh machine: `make demo` and `make test`.
#
#   make demo     the main job on real pictures, checked against NumPy and timed beside it
#   make test     lint, format, types, layers, tests
#   make fix      let ruff repair and format what it can
#   make docs     the documentation as a site, in build/site
#   make bench    side by side with installed peers
#   make clean    forget environments and what tools left behind
#   make help     this, as `make` alone
#
#   PYTHON=python3.12   another interpreter;  VENV=.venv312   another environment
#   PYTEST_ARGS='-k …'  more words for pytest; WORKERS=0      no worker processes
#   CUBEPY_TEST_APT=1   allow `make` to install missing system packages (Debian, Ubuntu; root)

VENV ?= .venv
WORKERS ?= 2
PYTEST_ARGS ?=
export CUBEPY_TEST_APT

BIN := $(VENV)/bin
# Folders with Python in them, as far as they exist yet.
SOURCES := $(patsubst %/,%,$(wildcard cubepy/ cubepy_tensor/ runtimes/ benchmarks/ examples/ tests/)) docs/conf.py

.DELETE_ON_ERROR:
.PHONY: help demo test check fix docs bench clean

# What stands at the head of this file.
help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

# NumPy is timed as it comes: without settings that tie its BLAS to another processor or cache.
demo: $(VENV)/.installed-demo
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python examples/demo.py

test: check
	@sh .ci/install-drivers
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

check: $(VENV)/.installed-test
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy $(SOURCES)
	$(BIN)/lint-imports --no-logo

fix: $(VENV)/.installed-test
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -q -W --keep-going docs build/site
	@echo "build/site/index.html"

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

# One stamp per set of extras; a changed pyproject.toml installs again, anything else is quick.
$(VENV)/.installed-demo: EXTRAS := demo
$(VENV)/.installed-test: EXTRAS := test,demo,opencl-cpu,wgpu
$(VENV)/.installed-docs: EXTRAS := docs
$(VENV)/.installed-bench: EXTRAS := bench,demo
$(VENV)/.installed-%: pyproject.toml $(VENV)/.created
	@echo "installing cubepy and what it needs into $(VENV): a minute or so, mostly downloads"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	@touch $@

$(VENV)/.created:
	@PYTHON="$(PYTHON)" sh .ci/make-venv "$(VENV)"
	@touch $@

clean:
	rm -rf .venv* build dist out .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
