# Everything is built into this clone: .venv (Python) and target (Rust).
SHELL  := bash
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= python3
WORKERS ?= 0
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Cargo's profile of the engine in python/incast: quick for use; dev, with checks, for tests; release, with the speed of a
# wheel. Each target puts its own there, and a store of runs knows the build that made it.
PROFILE ?= quick

# DCTCP against Swift, as the comparison's report describes it; one command for both demos.
DEMO_CC := --cc dctcp --cc swift --cc swift:target=min-rtt --cc swift:target=min-rtt,epsilon=auto \
           --cc swift:target=static,static_target=25ms --cc newreno
# Warm-up: the first ON and OFF second. Measured: the second ON second, all of it.
DEMO := $(DEMO_CC) --seeds 3 --workers $(WORKERS) --set run.warmup=2s

.PHONY: help build dev extension release wheel demo demo-full docs docs-pictures viewer-pictures paper-pages lab-figures notebooks viewer lab site test-viewer lint-viewer test test-all test-rust properties fuzz test-python test-ray kills lint bench bench-cells bench-store bench-view bench-web mutants parity papers \
        learn recordings published layers lines loom deny proto-sccp clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install maturin
	touch $@

# Packages are looked at where what is asked for has changed. Those of `make build` are what running needs.
REQUIRED := import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
            extras = [name for extra in sys.argv[1:] for name in project["optional-dependencies"][extra]]; \
            print(*project["dependencies"], *extras, sep="\n")

$(VENV)/.packages: $(VENV)/.created pyproject.toml constraints.txt
	@set -o pipefail; $(BIN)/python -c '$(REQUIRED)' | $(BIN)/pip install maturin -r /dev/stdin
	touch $@

$(VENV)/.packages-dev: $(VENV)/.packages
	@set -o pipefail; $(BIN)/python -c '$(REQUIRED)' dev | $(BIN)/pip install -r /dev/stdin
	touch $@

# Makes the package and its program known to .venv; python/incast itself is what they run.
$(VENV)/.installed: $(VENV)/.packages
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --profile $(PROFILE)
	touch $@

extension: $(VENV)/.created
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --skip-install --profile $(PROFILE)

# Packages come while the engine is compiled.
build: ## Build the engine and the package; leaves incast in .venv/bin (PROFILE=release: the speed of a wheel)
	@$(MAKE) --no-print-directory -j3 viewer extension $(VENV)/.packages
	@$(MAKE) --no-print-directory $(VENV)/.installed

dev:
	@$(MAKE) --no-print-directory -j3 viewer extension $(VENV)/.packages-dev
	@$(MAKE) --no-print-directory $(VENV)/.installed

# Tests run the build that the Rust tests share; speed is measured on what a wheel has.
test test-all test-python test-ray kills lint: export PROFILE := dev
bench bench-cells bench-store bench-view bench-web: export PROFILE := release

release: $(VENV)/.created viewer lab ## A wheel in dist, with profile-guided optimisation (builds twice)
	@test -f $(VIEWER) || { echo "release: $(VIEWER) is not there, and the wheel would not have it: make viewer says why"; exit 1; }
	$(BIN)/python tools/release.py

WHEEL ?=
wheel: $(VENV)/.created viewer ## A wheel in dist by pip, tried in an environment of its own; WHEEL=--manylinux is one for every Linux
	$(BIN)/python tools/wheel.py $(WHEEL)

demo: build ## First picture: six controllers on a fat tree; table, report.html, view.html (2.5 to 5 minutes from a fresh clone)
	$(BIN)/incast compare random-hotspot $(DEMO) --vary traffic.flows=100,250,650,2000 --set measure.timeline=auto --out runs/demo
	@echo
	@echo "Open in a browser: runs/demo/report.html$$(test -f runs/demo/view.html && echo ', and runs/demo/view.html, the fabric over time')"
	@echo "Next, a run of your own and its pictures:"
	@echo "  $(BIN)/incast run dumbbell --out runs/first"
	@echo "  $(BIN)/incast plot runs/first"

demo-full: build ## The same for one receiver and for random pairs, at eight numbers of flows (5 minutes)
	$(BIN)/incast compare random-hotspot random-pairs $(DEMO) --vary traffic.flows=100,250,500,650,750,1000,1500,2000 --out runs/demo-full

docs: dev ## The documentation as a site in build/site (python3 -m http.server -d build/site shows it)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

docs-pictures: build ## The documentation's picture of delays: make demo-full at four numbers of flows
	$(BIN)/incast compare random-hotspot random-pairs $(DEMO) --vary traffic.flows=100,250,650,2000 --out runs/pictures
	cp runs/pictures/delay-p99.png docs/images/

viewer-pictures: dev ## The documentation's pictures of the viewer, of runs made anew; needs Chromium (a minute)
	$(BIN)/python tools/viewer_pictures.py

paper-pages: dev ## Fill the tables of docs/papers from the records of results beside them (tools/paper_pages.py record DIR)
	$(BIN)/python tools/paper_pages.py write

lab-figures: dev ## Write the papers' figures that the page of incast lab offers (half a minute)
	$(BIN)/python tools/lab_figures.py

notebooks: dev ## Run the notebooks of the documentation and store what their cells show (a minute)
	$(BIN)/python tools/notebooks.py

test: ## Build, then lints and tests: what a change must pass
	@$(MAKE) --no-print-directory dev
	@$(MAKE) --no-print-directory lint test-rust test-viewer test-python
	@echo "make test: all passed"

# As maturin calls cargo: otherwise pyo3 is compiled anew by each of the two.
AS_MATURIN = env PYO3_BUILD_EXTENSION_MODULE=1 $$(ls -t "$${CARGO_TARGET_DIR:-$(CURDIR)/target}"/maturin/pyo3-config-*.txt \
             2>/dev/null | head -n 1 | sed s/^/PYO3_CONFIG_FILE=/)

lint: dev lines lint-viewer ## Formatting, lints and types
	cargo fmt --all --check
	$(AS_MATURIN) cargo clippy --workspace --all-targets -- -D warnings
	$(AS_MATURIN) RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet
	$(BIN)/python tools/layers.py
	$(BIN)/python tools/words.py
	$(BIN)/ruff check python tests/python bench docs/notebooks examples mutants parity proto tools
	$(BIN)/ruff format --check python tests/python bench docs/notebooks examples mutants parity proto tools
	$(BIN)/mypy

# The page of `incast view` is built where Node.js is there. The package carries the built file; without it all else works.
VIEWER := python/incast/view/viewer.html
NODE_THERE := node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' \
              2>/dev/null && command -v npm >/dev/null
VIEWER_READY := $(NODE_THERE) && test -d viewer/node_modules

viewer: ## The page of incast view; needs Node.js 20.19 or later, and says so where it is not there
	@if ! { $(NODE_THERE); }; then \
		echo "viewer: not built, as Node.js 20.19 or later with npm is not there; all but incast view works"; \
	elif ! $(MAKE) --silent --no-print-directory viewer/node_modules/.package-lock.json; then \
		echo "viewer: not built, as npm could not install its packages; all but incast view works"; \
	else $(MAKE) --silent --no-print-directory $(VIEWER); fi

viewer/node_modules/.package-lock.json: viewer/package-lock.json
	cd viewer && npm ci --silent
	touch $@

$(VIEWER): $(shell find viewer/src -type f) viewer/index.html viewer/vite.config.ts viewer/package-lock.json
	cd viewer && npm run --silent build -- --logLevel warn

# The page of `incast lab` carries the engine as WebAssembly; no test of `make test` needs it.
LAB := python/incast/view/lab.html
ENGINE := $${CARGO_TARGET_DIR:-$(CURDIR)/target}/wasm32-unknown-unknown/web/incast_web.wasm

lab: viewer/node_modules/.package-lock.json ## The page of incast lab, with the engine in it; needs Node.js and rustup (some minutes)
	rustup target add wasm32-unknown-unknown
	cargo build --package incast-web --profile web --target wasm32-unknown-unknown
	@test "$(ENGINE).lzma" -nt "$(ENGINE)" || python3 tools/packed_engine.py "$(ENGINE)" "$(ENGINE).lzma"
	cd viewer && INCAST_ENGINE="$(ENGINE)" npm run --silent lab -- --logLevel warn
	@ls -l $(LAB) | awk '{ print "lab: $(LAB), " $$5 " bytes; $(BIN)/incast lab opens it" }'

site: dev lab ## The documentation and the lab as static pages in build/site
	INCAST_LAB=1 NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	mkdir -p build/site/lab
	cp $(LAB) build/site/lab/index.html
	@echo "site: build/site; python3 -m http.server -d build/site shows it"

lint-viewer: viewer
	@if $(VIEWER_READY); then cd viewer && npm run --silent types && npm run --silent lint; \
	else echo "lint-viewer: skipped, as Node.js or the packages of the viewer are not there"; fi

test-viewer: viewer ## Unit tests of the viewer; those in a browser are in test-all
	@if $(VIEWER_READY); then cd viewer && npm run --silent test; \
	else echo "test-viewer: skipped, as Node.js or the packages of the viewer are not there"; fi

loom: ## The barrier between threads of a run under all interleavings of two threads
	RUSTFLAGS="--cfg loom" cargo test --release -p incast-engine --lib --target-dir target/loom threads::barrier

lines:
	@echo "lines of code and scenarios have at most 120 characters"
	@! LC_ALL=C.UTF-8 grep -rnE --include='*.rs' --include='*.toml' '^.{121,}$$' crates fuzz scenarios parity/scenarios tools *.toml

# `cargo install cargo-deny --locked` installs it; DENY="licenses bans sources" asks no server.
DENY ?= licenses bans sources advisories
deny: ## Licences, duplicate versions, sources and known vulnerabilities of the Rust dependencies
	cargo deny check $(DENY)

# The extension module links against a Python it is loaded into, so it has no test binary; the
# Python tests cover it.
test-rust: ## The Rust tests, optimised
	cargo test --workspace

properties: ## The Rust tests with all random cases, of which `make test` tries a part
	INCAST_CASES=all cargo test --workspace

# FUZZ="--count 100000", "--minutes 30", "--cores 2", "--seed 7", "--only 123": TESTING.md. A hunt that was interrupted goes on.
FUZZ ?= --count 1000
fuzz: ## Random scenarios of the whole grammar by every engine; one that breaks a law is made small (FUZZ="--count 100000")
	cargo run --quiet --profile test -p incast-fuzz -- $(FUZZ)

test-python: dev ## The Python, command-line and documentation tests, but for those of make test-all
	$(BIN)/pytest -n auto --dist worksteal -m "not extended" --durations=20

# TEST_ALL="--list" names the parts, "papers ray" are two of them, and "--minutes 20" is done by then.
TEST_ALL ?=
test-all: dev ## What make test leaves out: figures of papers, notebooks, browser, Ray, all random cases (TEST_ALL="--minutes 20")
	$(BIN)/python tools/test_all.py $(TEST_ALL)

# Ray is 100 MB and more: only this target installs it. RAY_KILLS is how often a node is killed.
RAY_KILLS ?= 1
test-ray: dev ## Studies on a Ray cluster of two nodes, one of which is killed
	$(BIN)/pip install --quiet "ray[client]>=2.40"
	INCAST_RAY_KILLS=$(RAY_KILLS) $(BIN)/pytest tests/python/test_ray.py

KILLS ?= 200
kills: dev ## Studies and extensions that are killed at random moments leave the same bytes (KILLS=200)
	INCAST_KILLS=$(KILLS) $(BIN)/pytest tests/python/test_studies.py -s -k kills_at_random

layers: ## Rooms, imports, long functions and files: what tools/layers.py finds
	$(PYTHON) tools/layers.py --report

bench: build ## Speed on the benchmark cases beside a bare loop; raw runs go to bench/runs
	$(BIN)/python -m bench.run

bench-cells: build ## CPU time of radio cells beside ns-3's
	$(BIN)/python -m bench.cells

bench-view: dev ## The viewer in headless Chromium: first paint, pictures a second, memory (docs/viewer.md)
	$(BIN)/python -m bench.view

bench-web: build lab ## The engine in a browser beside the installed one: CPU time, bytes
	$(BIN)/python -m bench.web

bench-store: build ## A store of 100,000 runs: status, a query, an extension
	$(BIN)/python -m bench.store

mutants: ## Mutation testing of the controllers (CONTROLLER=timely for one); writes docs/mutants.md
	$(PYTHON) -m mutants.run $(CONTROLLER)

recordings: ## Record packets of real Linux hosts anew; needs root and TUN devices
	$(BIN)/python -m parity.linux_hosts

learn: dev ## A policy learns to set windows and is compared with Swift (docs/learning.md); under 5 minutes
	$(BIN)/python -m examples.learn_window

# PROTO="--full" is the whole of figure 9, PROTO="--help" lists the options. --rate and --out stand for a rate or folder.
PROTO ?=
proto-sccp: build ## SCCP on real Linux TCP, at 100 Mb/s and 1 Gb/s; needs root, installs clang and libbpf-dev by apt-get
	$(BIN)/python -m proto.sccp.build
	$(BIN)/python -m proto.sccp --rate 100Mbps,1Gbps $(PROTO)

parity: build ## Hold the simulator against ns-3, htsim and Linux; writes docs/fidelity
	$(BIN)/python -m parity.run

papers: build ## The figures of every paper, each with its verdicts; reports in runs/paper-*
	for paper in $$($(BIN)/incast paper list --names); do \
		$(BIN)/incast paper run $$paper --workers $(WORKERS) || exit; done

published: build ## The table a study published, ns-3's figures and ours side by side
	$(BIN)/python -m parity.run --published

clean: ## Remove what was built (results in runs/ stay)
	rm -rf $(VENV) target python/incast/*.so
