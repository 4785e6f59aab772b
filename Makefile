# make run    set up what is missing, build, benchmark the embedded engines
# make test   set up what is missing, check formatting and lints, run every test (the page's in a browser), verify every engine's answers in the default tier
# make check  check a change in a minute or two: formatting, lints, the unit tests and fast integration tests of the changed crates, every test of the changed engines
# make test-long  make test with the complete long campaigns, of which make test runs a sample or nothing
# make build  set up what is missing and build target/release/embermark
# make bench  the harness's own benchmarks
# make calibrate  set up what is missing, and compare embermark's figures with those of the engines' own tools (docs/calibration.md); ENGINES='lmdb postgres' for only these
# make deps / make servers   only the set-up: for the embedded engines / for the server engines
# make python-clients / make node-clients   only the set-up: what clients in Python and Node.js need (docs/clients.md)
# make tune-defaults  search better settings of every embedded engine, in each tier (docs/tuning.md); hours
# make reproduce  repeat the five published comparisons (docs/reproduction.md); takes hours, resumes an interrupted repetition; WITHIN=1h for the headlines first
# make site   set up what is missing, build, and make a static site of the results in results/ (target/site)
# make dist   packages for devices, for x86-64 and aarch64: an archive with install.sh, a Debian package, a Python wheel (target/dist)
# make dist-test  install them in a bare Debian 11 and use them; aarch64 under QEMU; needs root
# make older  only on request: DuckDB 1.5.6 and RocksDB 10.4.2, to compare with the current releases (docs/configurations.md)
# make turso  only on request: Turso, compiled as a library for --engine-library (docs/engines/turso.md)
# make datafusion  only on request: Parquet files queried by DataFusion, as such a library (docs/engines/datafusion.md)
# make sqlcipher  only on request: SQLCipher, which is SQLite with encrypted pages, as such a library
# make libsql  only on request: libSQL, the fork of SQLite by Turso's authors, as such a library
# make chdb   only on request: chDB, which is ClickHouse in a process, as such a library (167 MB to fetch)
# make book   only on request: docs/ as a book in target/book, by mdBook, which it compiles once
# ACCEPT_LICENSE=harperdb    with servers or test: HarperDB too; this states that you have accepted its licence
TARGET := $(or $(CARGO_TARGET_DIR),target)

export ACCEPT_LICENSE

# Each part of the set-up may use what the one before it has fetched, also with make -j.
.NOTPARALLEL:

.PHONY: run build check test-long tune-defaults reproduce dist dist-test test bench calibrate site deps servers python-clients node-clients older turso datafusion chdb sqlcipher libsql book test-deps

run: build
	$(TARGET)/release/embermark run

build:
	@scripts/deps.sh embedded scripts/build.sh

test: deps servers python-clients node-clients test-deps
	@scripts/test.sh

check:
	@scripts/check.sh

test-long: deps servers python-clients node-clients test-deps
	@EMBERMARK_TEST_LONG=1 scripts/test.sh

# ARCHITECTURES='x86_64' for only one.
dist:
	@scripts/deps.sh embedded
	@scripts/dist.sh $(ARCHITECTURES)

dist-test:
	@scripts/dist-test.sh $(ARCHITECTURES)

bench: deps
	cargo bench --workspace --locked

calibrate:
	@scripts/deps.sh tools
	cargo run --release --locked -p embermark-calibrate -- $(ENGINES)

site: build
	@$(TARGET)/release/embermark site results/ -o $(TARGET)/site

tune-defaults: build
	@scripts/tune-defaults.sh

reproduce: build servers
	@scripts/reproduce.sh

deps:
	@scripts/deps.sh embedded

servers:
	@scripts/deps.sh servers

python-clients:
	@scripts/deps.sh python-clients

node-clients:
	@scripts/deps.sh node-clients

older:
	@scripts/deps.sh older

turso:
	@scripts/deps.sh turso

datafusion:
	@scripts/deps.sh datafusion

sqlcipher:
	@scripts/deps.sh sqlcipher

libsql:
	@scripts/deps.sh libsql

chdb:
	@scripts/deps.sh chdb

book:
	@scripts/deps.sh book
	@.deps/mdbook/bin/mdbook build

test-deps:
	@scripts/deps.sh tests
