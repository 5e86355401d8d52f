# Each of `make up`, `make demo` and `make test` works as the first command on a machine that has the Swift toolchain.
STATE ?= .vestibule
HTTP ?= 127.0.0.1:8080

.PHONY: help up demo test contract format prove api-test observability-test edge-test docs-test fuzz race-test guide-test http-cases s3-test bus-test web-test kubernetes-test staging-test ha-test chaos bench bench-peers bench-growth build lint clean bootstrap

help:
	@echo "make up     start everything on this machine and supervise it (STATE=$(STATE) HTTP=$(HTTP))"
	@echo "make demo   carry one person through the public API, and one through another plan"
	@echo "make test   the whole test suite"
	@echo "make contract MESSAGE=profile.update-me  record and check one message"
	@echo "make format lay out the Swift files"
	@echo "make prove  tests of chance that make test repeats a few times, many times over, and every test of the web app"
	@echo "make api-test  every operation of the public API by its OpenAPI document, with schemathesis; EXAMPLES=200 of each"
	@echo "make observability-test  alert rules and dashboard on a real Prometheus that asks a real system"
	@echo "make edge-test  the edge's limits for IPv6 networks, on a real nginx"
	@echo "make docs-test  the page of the API in headless Chromium, at the width of a phone and of a desk"
	@echo "make fuzz   random bytes for every reader that takes bytes from strangers; RUNS=1000000 of them for each"
	@echo "make race-test  the tests with ThreadSanitizer, which sees two threads use the same memory at once"
	@echo "make http-cases  public HTTP requests to the gateway, nginx and HAProxy: the gateway is nowhere laxer than both"
	@echo "make guide-test  every example of the guide for app developers on a running system, and its table of error codes"
	@echo "make s3-test  pictures in a bucket of an S3 server that checks signatures"
	@echo "make bus-test  the bus from Python, by its documentation alone"
	@echo "make web-test  the JavaScript SDK, and the web app in headless Chromium: every flow by keyboard; FULL=1, CUTS=200 and ROUNDS=500 for all"
	@echo "make staging-test   deploy/compose.yaml for real: scaled, killed, stopped; needs Docker with Compose"
	@echo "make kubernetes-test  deploy/kubernetes: validated, and its pods played in podman"
	@echo "make ha-test  deploy/ha for real: three database hosts, whose primary is killed, cut off and paused while people write; needs root"
	@echo "make chaos  kill, stop, cut off and fill up a system while people write, and judge what is left; CHAOS=\"--seed 7\"; SOAK=1 for a soak and a million cases of hostile bytes"
	@echo "make bench  what a call, a request and a login cost, against libzmq and pgbench in the same run"
	@echo "make bench-growth  1 to 8 replicas and 10,000 to 3,000,000 people: what grows, and what systems of millions need; 25 GB of disk"
	@echo "make bench-peers  a read and a login beside the same in FastAPI with asyncpg and PyJWT, from PyPI"
	@echo "make lint   formatter, house rules, target imports"
	@echo "make clean  remove what was built (the state folder stays)"

bootstrap:
	@scripts/bootstrap

build: bootstrap
	@swift build -c release

up: build
	@.build/release/vestibule up --state $(STATE) --http $(HTTP)

demo: build
	@.build/release/vestibule demo --state $(STATE) --http $(HTTP)
	@.build/release/vestibule demo --state $(STATE) --http $(HTTP) --plan realsingles

# The tests of pictures ask djpeg what it sees, and vipsthumbnail makes smaller ones.
test:
	@scripts/bootstrap libjpeg-turbo-progs libvips-tools python3
	swift build --build-tests
	@scripts/run-tests
	@python3 Tests/Chaos/test_chaos.py
	@python3 Tests/Chaos/test_ha.py
	@PROGRAMS=.build/debug scripts/chaos --quick

contract: bootstrap
	@scripts/contract $(MESSAGE)

format: bootstrap
	@swift format format --in-place --parallel --recursive Package.swift Sources Tests

# The suites that repeat something by `Rounds.count`, each in the file of its name.
prove:
	@scripts/bootstrap libjpeg-turbo-progs libvips-tools
	swift build --build-tests
	@VESTIBULE_PROVE=1 scripts/run-tests --filter "\.($$(grep -rlF 'Rounds.count(' Tests/*Tests \
		| sed 's,.*/,,; s,\.swift,,' | paste -sd '|'))/"
	@ROUNDS=500 CUTS=200 PROGRAMS=.build/debug scripts/web-sdk-test || [ $$? -eq 69 ]
	@FULL=1 CUTS=200 PROGRAMS=.build/debug scripts/web-test || [ $$? -eq 69 ]
	@scripts/plans-test

api-test: build
	@scripts/api-test

observability-test: build
	@scripts/observability-test

edge-test:
	@scripts/edge-test

docs-test: build
	@scripts/docs-test

fuzz: bootstrap
	@scripts/fuzz --runs $(or $(RUNS),20000)

race-test:
	@scripts/bootstrap libjpeg-turbo-progs libvips-tools python3
	@scripts/race-test

http-cases: build
	@PROGRAMS=.build/release scripts/http-cases

guide-test: build
	@scripts/guide-test

s3-test: build
	@scripts/s3-test

bus-test: build
	@PROGRAMS=.build/release scripts/bus-test

web-test: build
	@scripts/web-sdk-test
	@scripts/web-test

kubernetes-test: build
	@scripts/kubernetes-test

staging-test:
	@scripts/staging-test

chaos: build
	@scripts/chaos $(if $(SOAK),--for 30m) $(CHAOS)
	@$(if $(SOAK),scripts/fuzz --planted && scripts/fuzz --runs 1000000)

ha-test: build
	@scripts/ha-test

bench:
	@scripts/bootstrap wrk python3-cryptography libjpeg-turbo-progs
	@swift build -c release
	@status=0; scripts/count-work --check || status=$$?; scripts/bench || status=$$?; scripts/bench-sign-ins || status=$$?; scripts/bench-profiles || status=$$?; \
		scripts/bench-questionnaire || status=$$?; scripts/bench-recoveries || status=$$?; \
		scripts/bench-cities || status=$$?; scripts/bench-funnel || status=$$?; scripts/bench-choices || status=$$?; \
		scripts/bench-verification || status=$$?; exit $$status

bench-peers:
	@scripts/bootstrap wrk openssl
	@swift build -c release
	@scripts/bench-peers

bench-growth:
	@scripts/bootstrap wrk
	@swift build -c release
	@scripts/bench-growth

lint: bootstrap
	swift format lint --strict --recursive Package.swift Sources Tests
	scripts/check-rules
	swift build --build-tests --explicit-target-dependency-import-check error
	scripts/swift-client --check
	scripts/web-client --check
	scripts/faces --check
	@made=$$(mktemp -d) && .build/debug/vestibule schema export $$made >/dev/null \
		&& diff -r --exclude=README.md docs/schema $$made && rm -r $$made
	scripts/web-types --check || [ $$? -eq 69 ]
	PROGRAMS=.build/debug scripts/configuration-table --check

clean:
	rm -rf .build
