# kneesweep: `make` lists what can be done.

GO       ?= go
FUZZTIME ?= 30s
TOOL      = $(GO) tool -modfile=tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help build test race fuzz bench many benchmarks lint golden e2e browser screenshots demo accuracy

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the command, statically linked, at bin/kneesweep
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/kneesweep ./cmd/kneesweep

test: ## all tests that need no network
	$(GO) test ./...

race: ## the same with the race detector, without the long ones
	$(GO) test -race -short ./...

fuzz: ## every fuzz target in turn, FUZZTIME (30s) each
	@GO="$(GO)" .ci/fuzz "$(FUZZTIME)"

bench: ## the client beside wrk, SDKs and a floor in C (40 minutes), as Markdown for docs/bench.md
	cd bench && $(GO) run .

many: ## memory, CPU and in-flight of 1,000 and 10,000 slow streams (90 s), as Markdown for docs/bench.md
	cd bench && $(GO) run . -many -only kneesweep

benchmarks: ## all Go benchmarks
	$(GO) test -run '^$$' -bench . ./...

lint: ## golangci-lint, in the version that tools/go.mod pins
	$(TOOL) golangci-lint run

golden: ## rewrite the golden files; look at the pictures before committing them
	$(GO) test ./plots ./report -update

browser: ## tests of the pages in Chromium
	cd browser && $(GO) test -tags browser -count=1 ./...

screenshots: build ## pictures of the page of RUN (a folder or file) for docs/
	bin/kneesweep analyze --html bin/report.html $(RUN) >bin/report.txt
	cd browser && $(GO) run ./screenshot ../bin/report.html ../docs

e2e: ## a sweep against a real server (builds Ollama the first time)
	$(GO) test -tags e2e -count=1 -v -timeout 30m ./e2e/

demo: ## a sweep of the embedded simulated endpoint
	$(GO) run ./cmd/kneesweep sweep

accuracy: ## the study behind docs/accuracy.md
	$(GO) test -tags accuracy -count=1 -v -timeout 180m ./internal/accuracy/
