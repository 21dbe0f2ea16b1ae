# The front door: everything a user or a developer types. The work is in CMakeLists.txt and tools/.
#
#   make            build build/release/yoke          make demo    train and evaluate the example (QUESTION="...")
#   make check      build and pass all tests          make bench   compare with PyTorch (BENCH=name)
#   make install    to PREFIX (default /usr/local)    make fuzz    every fuzz target for 10 minutes

PREFIX ?= /usr/local
BENCH ?=
FUZZ_SECONDS ?= 600

.PHONY: all setup demo check check-parity bench install fuzz format clean

all: setup
	@tools/build release

setup:
	@tools/setup

demo: all
	@examples/qa/demo.sh build/release

check: setup
	@tools/check

check-parity: all
	@tools/check_parity build/release/yoke

bench: all
	@tools/bench $(BENCH)

install: all
	cmake --install build/release --prefix "$(PREFIX)"

fuzz: setup
	@tools/build fuzz
	@tools/fuzz build/fuzz $(FUZZ_SECONDS)

format:
	clang-format-14 -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build
