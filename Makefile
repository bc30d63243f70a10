# Two commands: `make book` and `make test`. Each creates .venv from the lock if it is missing or outdated.

PROFILE ?= full
JOBS ?= auto
ARGS ?=
VENV := .venv
PY := $(VENV)/bin/python
UV ?= uv
COMPILE := $(UV) pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --quiet

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

.PHONY: book quick test nightly faults pdf bench clean lock
.DELETE_ON_ERROR:

# Build the book into _build/html. ARGS go to book/build/__main__.py: make book ARGS="--only 08 -p seed=7"
book: $(VENV)/.book
	$(PY) -B -m book.build --profile $(PROFILE) $(ARGS)

quick:
	$(MAKE) book PROFILE=quick

# ARGS go to pytest: make test ARGS="tests/book/companion/test_figures.py"
test: $(VENV)/.test
	$(PY) -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Tests that take too long for every run: many more examples, builds killed at random moments, fuzzed input files.
nightly: $(VENV)/.test
	CROWDER_NIGHTLY=1 $(PY) -m pytest --numprocesses $(JOBS) --dist loadfile $(ARGS)

# Wrong edits, planted one at a time; each must make a test fail or change a claim.
faults: $(VENV)/.test
	$(PY) tests/faults/plant.py $(ARGS)

# The pages of the last build as one document, and the note on four results as another, printed by Chromium.
pdf: $(VENV)/.test
	$(PY) -B -m book.build.pdf
	$(PY) -B -m book.build.pdf --page 14-four-results

# Benchmarks: see the head of each file. ARGS=--quick takes a minute and does not change book/data/measured.
bench: $(VENV)/.bench
	$(PY) benchmarks/orderings.py $(ARGS)
	$(PY) benchmarks/scale.py $(ARGS)
	$(PY) benchmarks/chapters.py $(ARGS)

clean:
	rm -rf _build

# Resolve all versions. To update them: make lock COMPILE_FLAGS=--upgrade
lock:
	@command -v $(UV) >/dev/null || { echo "make lock needs uv (python3 -m pip install uv), or UV=/path/to/uv" >&2; exit 1; }
	$(COMPILE) $(COMPILE_FLAGS) --extra book --output-file requirements.lock
	$(COMPILE) $(COMPILE_FLAGS) --extra book --extra scale --extra test --constraint requirements.lock --output-file requirements-test.lock
	$(COMPILE) $(COMPILE_FLAGS) --extra book --extra scale --extra test --extra bench --constraint requirements-test.lock --output-file requirements-bench.lock

# Use the first suitable Python; PYTHON=/path/to/python takes precedence.
$(PY):
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
		if $$python -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; \
		then echo "making $(VENV) with $$($$python --version)"; [ ! -e $(VENV)/.half ] || rm -rf $(VENV); mkdir -p $(VENV); \
			touch $(VENV)/.half; $$python -m venv $(VENV) && rm $(VENV)/.half; exit $$?; fi; \
	done; \
	echo "This project needs Python 3.11, 3.12 or 3.13 with venv; found: $$(python3 --version 2>&1)." >&2; \
	echo "On Debian or Ubuntu, venv is in the package python3-venv. To use another Python: make book PYTHON=/path/to/it" >&2; \
	exit 1

# The stamps are written last, so that an interrupted set-up starts again. An unfinished environment (.half) is then created
# anew, and packages are reinstalled if an installation was interrupted (.begun), because they may look complete.
define install
	@echo "installing the packages of $(1) (about a minute)"
	@[ ! -e $(VENV)/.half ] || { rm -rf $(VENV) && $(MAKE) --no-print-directory $(PY); }
	@again=; [ ! -e $(VENV)/.begun ] || again=--force-reinstall; touch $(VENV)/.begun; \
	$(PY) -m pip install --quiet --no-compile --require-hashes $$again -r $(1)
	@$(PY) -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true # pip would compile one file at a time, tests too
	$(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@ && rm $(VENV)/.begun
endef

$(VENV)/.book: requirements.lock pyproject.toml | $(PY)
	$(call install,$<)

$(VENV)/.test: requirements-test.lock pyproject.toml | $(PY)
	$(call install,$<)

$(VENV)/.bench: requirements-bench.lock pyproject.toml | $(PY)
	$(call install,$<)
