# make run    set up what is missing, build, benchmark the embedded engines
# make test   set up what is missing, check formatting and lints, run every test, the page's in a browser too, verify every engine's answers in the default tier
# make check  a minute's look at a change: formatting, lints, the unit tests of the crates and every test of the engines that it touches
# make test-long  as make test, with the long campaigns whole: what make test samples, and what it leaves out
# make build  set up what is missing and build target/release/embermark
# make bench  the harness's own benchmarks
# make calibrate  set up what is missing, and compare embermark's figures with those of the engines' own tools (docs/calibration.md); ENGINES='lmdb postgres' for some of them
# make deps / make servers   only the set-up: for the embedded engines / for the server engines
# make python-clients / make node-clients   only the set-up: what clients in Python and Node.js need (docs/clients.md)
# make tune-defaults  look for better settings of every embedded engine, in each tier (docs/tuning.md); hours
# make reproduce  repeat the five published comparisons (docs/reproduction.md); hours, goes on where it was ended; WITHIN=1h for the headlines first
# make site   set up what is missing, build, and make a static site of the results in results/ (target/site)
# make dist   packages for devices, for x86-64 and aarch64: an archive with install.sh, a Debian package, a Python wheel (target/dist)
# make dist-test  install them in a bare Debian 11 and use them; aarch64 under QEMU; takes root
# make older  on request alone: DuckDB 1.5.6 and RocksDB 10.4.2, to measure beside today's releases (docs/configurations.md)
# make turso  on request alone: Turso, compiled as a library for --engine-library (docs/engines/turso.md)
# make datafusion  on request alone: Parquet files asked by DataFusion, as such a library (docs/engines/datafusion.md)
# make sqlcipher  on request alone: SQLCipher, which is SQLite with encrypted pages, as such a library
# make libsql  on request alone: libSQL, the fork of SQLite by Turso's authors, as such a library
# make chdb   on request alone: chDB, which is ClickHouse in a process, as such a library (167 MB to fetch)
# make book   on request alone: docs/ as a book in target/book, by mdBook, which it compiles once
# ACCEPT_LICENSE=harperdb    with servers or test: HarperDB too, whose licence you have then accepted
TARGET := $(or $(CARGO_TARGET_DIR),target)

export ACCEPT_LICENSE

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

# ARCHITECTURES='x86_64' for one alone.
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
