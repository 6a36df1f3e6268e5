PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
AXE := .browser/node_modules/axe-core/axe.min.js

.PHONY: demo test test-slow docs test-browser test-oldest test-newest test-learners test-sql fuzz lint wheel bench trust past results results-peers clean

demo: $(STAMP)  ## the paper's synthetic data, CAPE against Max_Acc
	$(BIN)/cape demo

test: $(STAMP)  ## tests and doctests, but for what is slow and rare
	$(BIN)/python -m pytest -n 2

test-slow: $(STAMP)  ## what is slow and rare: statistics by simulation, damaged files by the thousand, and all tests on the oldest versions
	$(BIN)/python -m pytest -n 2 -m "slow and not sql"
	$(MAKE) fuzz
	$(MAKE) test-oldest

test-browser: $(STAMP)  ## the pages in headless Chromium; installs it (Debian, as root), Playwright and axe-core if absent
	@command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium; }
	@$(BIN)/python -c "import playwright" 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[browser]"
	@test -f $(AXE) || npm install --silent --no-audit --no-fund --no-save --prefix .browser axe-core@4.14.0
	CAPE_AXE=$(AXE) $(BIN)/python -m pytest -m browser tests/browser

docs: $(STAMP)  ## the documentation site, in docs/_build/html; installs Sphinx if absent; needs no network after that
	@$(BIN)/python -c "import sphinx_gallery, myst_parser, pydata_sphinx_theme, sphinx_design, sphinx_copybutton" 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet --doctree-dir docs/_build/doctrees docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

LEARNERS := .venv-learners

test-learners: $(LEARNERS)/.installed  ## XGBoost, LightGBM, CatBoost, interpret and imbalanced-learn, in an environment of their own
	$(LEARNERS)/bin/python -m pytest -m learners tests/cape/training/test_foreign.py

$(LEARNERS)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(LEARNERS)
	$(LEARNERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[learners]"
	touch $@

DATABASES := .venv-databases

test-sql: $(DATABASES)/.installed  ## evidence by SQL on Postgres and Spark; installs both (Debian, as root, and PyPI) if absent; MARK=sql for 200 tables on each
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { apt-get update -q && apt-get install -y -q --no-install-recommends postgresql; }
	@command -v java >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends default-jre-headless; }
	$(DATABASES)/bin/python -m pytest -m "$(or $(MARK),sql and not slow)" tests/cape/elsewhere/test_sql.py

$(DATABASES)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DATABASES)
	$(DATABASES)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[databases]"
	touch $@

fuzz: $(STAMP)  ## thousands of damaged model files, all of them refused; make fuzz NUMBER=500 for a first look
	$(BIN)/python tests/cape/persist/fuzz.py --number $(or $(NUMBER),5000)

QUICKLY := -n 2 -o addopts="--import-mode=importlib -ra --strict-markers -p no:cacheprovider" -m "not browser and not slow and not learners and not sql"
TESTS ?= tests

test-oldest:  ## the tests, but for slow ones and doctests, on the oldest versions that pyproject.toml admits; TESTS= for some of them
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) .ci/oldest.py > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-oldest/oldest.txt --editable ".[test]"
	.venv-oldest/bin/python -m pytest $(QUICKLY) $(TESTS)

test-newest:  ## the same on the newest versions there are: no constraints
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --editable ".[test]"
	.venv-newest/bin/python -m pytest $(QUICKLY) $(TESTS)

lint: $(STAMP)  ## format, lint, layers, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

wheel: $(STAMP)  ## dist/*.whl and dist/*.tar.gz; tries the wheel in an empty environment
	@$(BIN)/python -c "import build" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check build
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$(ls $(CURDIR)/dist/*.whl)[app]"
	cd .venv-wheel && bin/cape demo

bench: $(STAMP)  ## speed and memory as ratios, docs/performance.md; ten minutes on a quiet machine; make bench QUICK=--quick for a first look, QUICK=--large for 500 groups and 10,000 columns, too
	@$(BIN)/python -c "import mlquantify" 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python benchmarks/speed.py $(QUICK)

# error-parity asks for numpy below 2 and an old cvxpy, and runs without them.
trust: $(STAMP)  ## how often intervals, tests and watches were right: docs/trust.md, rules_compared.md, watch_compared.md; 40 minutes; can be stopped and started again
	@$(BIN)/python -c "import error_parity, oxonfair" 2>/dev/null || { \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]" && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "error-parity==0.3.12"; }
	$(BIN)/python benchmarks/trust.py $(QUICK)

past: $(STAMP)  ## learn from public series how shares move and scores drift: the table in src/cape/drift and docs/trust.md; needs CAPE_DATA; ten minutes
	$(BIN)/python benchmarks/past.py

AIF360 := Reweigh AD Meta-fair-sr Meta-fair-fdr CEOP-fpr CEOP-fnr CEOP-weighted ROC-spd ROC-aod ROC-eod
# Cells run side by side: more threads in each would wait for each other.
REPRODUCE := OMP_NUM_THREADS=1 $(BIN)/python -m cape_paper reproduce
PAGE := $(BIN)/python -m cape_paper page
INDEX := $(BIN)/python -m cape_paper index docs/results-*.md docs/nannyml.md docs/*_compared.md docs/trust.md docs/performance.md --out docs/results.md

results: $(STAMP)  ## the paper's experiments, real shifts, quantifiers, small groups and docs/results*.md, and the record of docs/backtest.md; it can be stopped and started again
	@$(BIN)/python -c "import mlquantify, tensorflow" 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[adversarial,bench]"
	$(REPRODUCE) synthetic
	$(REPRODUCE) compas
	$(REPRODUCE) compas --favourable negative --out results/compas-negative --seeds 3 --slow-seeds 1 --methods $(AIF360)
	$(REPRODUCE) compas --features wide --out results/compas-wide --seeds 5 --methods CAPE-D CAPE-1 "CAPE default" Max_Acc
	$(REPRODUCE) meps
	$(REPRODUCE) shifts
	$(REPRODUCE) quantifiers
	$(REPRODUCE) small-groups
	$(BIN)/python benchmarks/backtests.py
	$(PAGE) results/synthetic results/compas results/meps results/compas-negative results/compas-wide --out docs/results-paper.md --title "The paper's experiments"
	$(PAGE) results/shifts --out docs/results-shifts.md
	$(PAGE) results/quantifiers --out docs/results-quantifiers.md
	$(PAGE) results/small-groups --out docs/results-small-groups.md
	$(INDEX)

NANNYML := .venv-nannyml

results-peers: $(STAMP) $(NANNYML)/.installed  ## the model as it is beside NannyML, in an environment of its own, and docs/nannyml.md
	$(REPRODUCE) logged --nannyml $(NANNYML)/bin/python
	$(PAGE) results/logged --out docs/nannyml.md
	$(INDEX)

# NannyML imports statsmodels and does not ask for it.
$(NANNYML)/.installed:
	$(PYTHON) -m venv $(NANNYML)
	$(NANNYML)/bin/python -m pip install --quiet --disable-pip-version-check "nannyml==0.13.*" statsmodels
	touch $@

clean:
	rm -rf $(VENV) $(LEARNERS) .browser demo docs/_build docs/api docs/gallery docs/words.md

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test]"
	touch $(STAMP)
