# Two commands: `make book` and `make test`. Each creates .venv from the lock if it is missing or outdated.

# full, or a profile of book/data/profiles.yml: make book PROFILE=quick
PROFILE ?= full
JOBS ?= auto
ARGS ?=
VENV := .venv
PY := $(VENV)/bin/python
# A worker that crashes ends the run: with the tests of a file in one group, pytest-xdist waits for it for ever.
PYTEST = $(PY) -m pytest --numprocesses $(JOBS) --dist loadgroup --no-loadscope-reorder --max-worker-restart 0

export PROFILE
export PYTHONHASHSEED := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

.PHONY: book accept record lab test nightly faults pdf bench clean lock

# Execute the chapters that are due, compare what they say and show with the book, and render the pages into _build/html.
# The last pages stay until the new ones are complete.
book: $(VENV)/.installed
	$(PY) -m book.run $(ARGS)
	$(PY) -m book.check
	rm -rf _build/new
	$(VENV)/bin/jupyter-book build . --path-output _build/new -n -W --keep-going --quiet
	rm -rf _build/html && mv _build/new/_build/html _build/html && rm -rf _build/new
	@echo "the book is at _build/html/index.html"

# Let the texts and book/data/results have what the chapters compute; see git diff.
accept: $(VENV)/.installed
	$(PY) -m book.run --profile full
	$(PY) -m book.check --profile full --accept

# Compute anew what the book reads from book/data/recorded, and record it: half an hour. It needs data that are not
# shipped; .ci/data.py fetches them.
record: $(VENV)/.installed
	$(PY) -m book.run --profile complete $(ARGS)
	$(PY) -m book.check --profile complete --accept

record nightly: export CROWDER_CROWDS ?= $(wildcard ../shared/data/crowds)
record nightly: export CROWDER_CORA ?= $(wildcard ../shared/data/cora.csv)

# Open the notebooks in JupyterLab, with this environment as kernel. ARGS go to JupyterLab: make lab ARGS=--no-browser
lab: $(VENV)/.lab
	$(PY) -m jupyterlab --preferred-dir notebooks $(ARGS)

# ARGS go to pytest: make test ARGS="tests/book/companion/test_figures.py"
test: $(VENV)/.installed
	$(PY) -m ruff check --quiet .
	$(PY) -m ruff format --check --quiet .
	$(PY) -m mypy
	@said=$$($(VENV)/bin/lint-imports --no-logo --no-cache) || { echo "$$said"; exit 1; } # it cannot be told to be quiet
	$(VENV)/bin/nbstripout --verify --keep-id --extra-keys "metadata.papermill cell.metadata.papermill" \
		notebooks/*.ipynb notebooks/*/*.ipynb
	$(VENV)/bin/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(VENV)/bin/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(VENV)/bin/zizmor --quiet --offline --strict-collection .github
	$(PYTEST) --durations 10 $(ARGS)

# What takes too long for every run: the book with nothing read from book/data/recorded, and tests with many more
# examples.
nightly: $(VENV)/.installed
	$(PY) -m book.run --profile complete
	$(PY) -m book.check --profile complete
	CROWDER_NIGHTLY=1 $(PYTEST) --timeout 3600 --override-ini faulthandler_timeout=7200 $(ARGS)

# Wrong edits, planted one at a time; each must make a test fail or change a claim.
faults: $(VENV)/.installed
	$(PY) tests/faults/plant.py $(ARGS)

# The pages of the last build as one document, printed by Chromium.
pdf: $(VENV)/.installed
	$(PY) -m book.pdf

# Benchmarks: see the head of the file. ARGS=--quick takes a minute and does not change book/data/measured.
bench: $(VENV)/.installed
	$(PY) benchmarks/measure.py $(ARGS)

# Whatever was made, by these commands, by `jupyter-book build .` or by tools; not .venv.
clean:
	rm -rf _build book/pages/api conf.py .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# Resolve all versions, and write the locks and environment.yml. To update them: make lock ARGS=--upgrade
lock: $(VENV)/.installed
	$(PY) .ci/lock.py $(ARGS)

# The platforms of .ci/lock.py, as Python names them.
HERE := import platform as p, sys; here = " ".join([p.system(), p.machine(), p.libc_ver()[0]]).strip(); \
	sys.exit(None if here in ("Linux x86_64 glibc", "Linux aarch64 glibc", "Darwin arm64") else \
	f"requirements.lock has no packages for {here}. README.md says what works there, under Two commands.")

# Use the first suitable Python; PYTHON=/path/to/python takes precedence. The stamp is written last, so that a set-up
# that was interrupted starts again, from nothing. No path of this folder is written into the environment's .pth file:
# Python 3.11 and 3.12 could not read one that is not ASCII under LC_ALL=C.
$(VENV)/.installed: requirements.lock
	@if [ -n "$(PYTHON)" ] && ! "$(PYTHON)" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then \
		echo "PYTHON=$(PYTHON) is no Python 3.11, 3.12 or 3.13 with venv" >&2; exit 1; fi
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
		if $$python -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; \
		then $$python -c '$(HERE)' || exit 1; \
			echo "making $(VENV) with $$($$python --version) (about a minute)"; exec $$python -m venv --clear $(VENV); fi; \
	done; \
	echo "This project needs Python 3.11, 3.12 or 3.13 with venv; found: $$(python3 --version 2>&1)." >&2; \
	echo "On Debian or Ubuntu, venv is in the package python3-venv. To use another Python: make book PYTHON=/path/to/it" >&2; \
	exit 1
	$(PY) -m pip install --quiet --no-compile --require-hashes -r requirements.lock
	@$(PY) -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true # pip would compile one file at a time, tests too
	@$(PY) -c 'import sysconfig; open(sysconfig.get_path("purelib") + "/crowder.pth", "w").write("../../../..\n../../../../tool\n")'
	@printf '#!/bin/sh\nexec "$$(dirname "$$0")/python" -m crowder_tool "$$@"\n' > $(VENV)/bin/crowder
	@chmod +x $(VENV)/bin/crowder
	@touch $@

# JupyterLab, which neither builds nor tests need. Making the environment anew removes it.
$(VENV)/.lab: $(VENV)/.installed requirements-lab.lock
	$(PY) -m pip install --quiet --require-hashes -r requirements-lab.lock
	@touch $@
