# Cresset
#
#   make            build every library and program, as they are released
#   make check      build and run the unit tests, under AddressSanitizer and UBSan
#   make bench-cpu  time products and convolutions, beside OpenBLAS where it is installed
#   make fuzz       let each fuzzer run for a while
#   make lint       hold the sources to the rules that no compiler knows
#   make format     lay them out
#   make clean      remove build/
#
# MODE says which of the builds: release (build/bin), asan (for the tests), clang, tsan, fuzz.

MODE     ?= release
out      := build/$(MODE)
bin      := $(if $(filter release,$(MODE)),build/bin,$(out)/bin)

CC       ?= gcc
AR       ?= ar
ifeq ($(filter clang fuzz,$(MODE)),$(MODE))
CC := clang
endif
warnings := -Wall -Wextra -Werror -Wshadow -Wconversion -Wsign-conversion -Wvla -Walloca -Wformat=2 \
            -Wimplicit-fallthrough -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes

# What this compiler knows of a list of flags: clang 14 lacks some of gcc 12's.
known     = $(foreach flag,$(1),$(shell $(CC) -Werror $(flag) -c -x c /dev/null -o /dev/null 2>/dev/null && echo $(flag)))

hardened := -O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong \
            -fstack-clash-protection -fcf-protection=full -fno-delete-null-pointer-checks \
            -fno-strict-overflow -fno-strict-aliasing -fPIE \
            $(call known,-ftrivial-auto-var-init=zero -Wtrampolines -Wbidi-chars=any)
relro    := -pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code,--as-needed

flags_release := $(hardened)
# Not fortified: for clang the headers make macros of what banned.h poisons.
flags_clang   := $(filter-out -D_FORTIFY_SOURCE=3,$(hardened))
flags_asan    := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
flags_tsan    := -O1 -g -fsanitize=thread
flags_fuzz    := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
link_release  := $(relro)
link_clang    := $(relro)

CFLAGS   += -std=gnu17 -D_GNU_SOURCE -fno-common -ffp-contract=off -include base/core/banned.h \
            -ffile-prefix-map=$(CURDIR)=. $(warnings) $(flags_$(MODE))
LDFLAGS  += $(flags_$(MODE)) $(link_$(MODE))

.PHONY: all check lint format clean
all:

# The architecture ---------------------------------------------------------------------------------
#
# $(call library,NAME,USES): the C files of folder NAME make one library, which may include headers
# of NAME and of USES, and of nothing else. The compiler holds us to it: it sees each library
# through a folder of links to just these, build/view/NAME.
#
# Every one of USES must be declared above NAME. So the list reads as the house stands, from the
# ground up, and a circle cannot be written.
#
# NAME/*.sql becomes NAME/*_sql.h, the statements as C constants (base/db/statements.awk).

define library
$(foreach used,$(filter-out $(declared),$(2)),$(error $(1) uses $(used), which is not below it))
declared += $(1)
$(if $(wildcard $(1)/*.c),$(call built,$(1),$(2)))
endef

define built
libraries += $(1)
$(call compiled,$(1),$(2))

$(out)/lib/$(1).a: $$(objects_$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	@$$(AR) rcsD $$@ $$^

all: $(out)/lib/$(1).a
endef

# $(call program,NAME,FOLDER,USES): the C files of FOLDER make the program build/bin/NAME. A program
# stands on the top floor: nothing may include it.
define program
$(foreach used,$(filter-out $(declared),$(3)),$(error $(1) uses $(used), which is not below it))
$(if $(wildcard $(2)/*.c),$(call linked,$(1),$(2),$(3)))
endef

define linked
programs += $(2)
$(call compiled,$(2),$(3))

$(bin)/$(1): $$(objects_$(2)) $(foreach used,$(filter $(libraries),$(call reversed,$(3))),$(out)/lib/$(used).a)
	@mkdir -p $$(@D)
	@echo "  link    $$@"
	@$$(CC) $$(LDFLAGS) -Wl,--start-group $$^ -Wl,--end-group $$(foreign) -o $$@

all: $(bin)/$(1)
endef

define compiled
objects_$(1) := $$(patsubst %.c,$(out)/%.o,$$(wildcard $(1)/*.c))
view_$(1) := build/view/$(subst /,.,$(1))
statements_$(1) := $$(patsubst %.sql,build/generated/%_sql.h,$$(wildcard $(1)/*.sql))
statements += $$(statements_$(1))

$$(view_$(1)): Makefile
	@rm -rf $$@.new $$@
	@$(foreach seen,$(1) $(2),mkdir -p $$@.new/$(dir $(seen)) && ln -sfn $(CURDIR)/$(seen) $$@.new/$(seen);)
	@mv -T $$@.new $$@

$$(objects_$(1)): $(out)/%.o: %.c Makefile | $$(view_$(1)) $$(statements_$(1))
	@mkdir -p $$(@D)
	@echo "  cc      $$<"
	@$$(CC) $$(CPPFLAGS) -I$$(view_$(1)) -Ibuild/generated $$(CFLAGS) $$(flags_of_file) -MMD -MP -c $$< -o $$@

$$(statements_$(1)): build/generated/%_sql.h: %.sql base/db/statements.awk
	@mkdir -p $$(@D)
	@awk -f base/db/statements.awk $$< > $$@.new && mv $$@.new $$@

-include $$(objects_$(1):.o=.d)
endef

reversed = $(if $(1),$(call reversed,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))

# What a file of kernels is compiled with besides: none of a fuzzer's sanitizers in the loops of the CPU
# (clang needs minutes and gigabytes for them, and no foreign byte chooses an index there), its set, by the end of its name, and
# the optimizer's whole strength, since the three -fno- flags of the rest protect pointers, not sums.
flags_of_file = $(if $(filter kernels/% base/core/% base/json/%,$<),-fPIC) \
                $(if $(filter kernels/%,$<),$(if $(filter asan tsan fuzz,$(MODE)),,-O3) -fno-math-errno -fno-trapping-math) \
                $(if $(filter %_avx2.c,$<),-mavx2 -mfma -mf16c) \
                $(if $(filter %_avx512.c,$<),-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma) \
                $(if $(filter fuzz,$(MODE)),$(if $(filter kernels/cpu/%,$<),-fno-sanitize=all))

# Floor 0: the doors of foreign libraries.
core := base/core
$(eval $(call library,base/core))
$(eval $(call library,base/json,$(core)))
$(eval $(call library,base/crypto,$(core)))
$(eval $(call library,base/db,$(core)))
$(eval $(call library,base/bus,$(core)))
$(eval $(call library,base/fetch,$(core)))
$(eval $(call library,base/http,$(core)))
$(eval $(call library,base/jail,$(core)))
$(eval $(call library,base/telemetry,$(core)))
$(eval $(call library,base/yaml,$(core)))

# Floor 1: what is pure. kernels/ has floors of its own.
k := $(core)
$(eval $(call library,kernels/dtype,$(core)))
$(eval $(call library,kernels/random,$(core)))
$(eval $(call library,kernels/tensor,$(core) kernels/dtype))
$(eval $(call library,kernels/expr,$(core) kernels/dtype))
k += kernels/dtype kernels/random kernels/tensor kernels/expr
$(eval $(call library,kernels/op,$(k)))
$(eval $(call library,kernels/graph,$(k) kernels/op))
$(eval $(call library,kernels/grad,$(k) kernels/op kernels/graph))
k += kernels/op kernels/graph
$(eval $(call library,kernels/device,$(k)))
$(eval $(call library,kernels/cpu,$(k) kernels/device))
$(eval $(call library,kernels/run,$(k) kernels/device kernels/cpu kernels/grad))
$(eval $(call library,kernels/format,$(k) base/json))
k += kernels/device kernels/cpu kernels/grad kernels/run kernels/format
$(eval $(call library,kernels/nn,$(k)))
$(eval $(call library,kernels/data,$(k)))
$(eval $(call library,kernels/cresset,$(k) base/json kernels/nn kernels/data))
$(eval $(call library,policy/tlog,$(core) base/crypto))
$(eval $(call library,policy/provenance,$(core) base/json base/crypto))
$(eval $(call library,compute/protocol,$(core) base/json base/crypto))

# Floor 2: what decides and what works, each alone.
$(eval $(call library,controlplane/admission,$(core)))
$(eval $(call library,billing,$(core) base/json base/crypto policy/tlog policy/provenance))
$(eval $(call library,compute/lease,$(core) base/json base/crypto compute/protocol))
$(eval $(call library,compute/cache,$(core) base/json base/crypto base/fetch compute/protocol))
$(eval $(call library,compute/launch,$(core) base/json base/crypto base/jail compute/protocol))
$(eval $(call library,compute/train,$(core) base/json compute/protocol kernels/cresset))
$(eval $(call library,compute/batch,$(core) base/json compute/protocol kernels/cresset))

# Floor 3: one use case, one function, one transaction.
$(eval $(call library,controlplane/service,$(core) base/json base/crypto base/db base/bus \
    policy/tlog policy/provenance compute/protocol billing controlplane/admission))

# Floor 4: REST.
$(eval $(call library,controlplane/api,$(core) base/json base/crypto base/db base/bus base/http base/telemetry \
    compute/protocol billing controlplane/service))

# Floor 5: the programs.
$(eval $(call program,cressetd,controlplane/cressetd,$(core) base/json base/crypto base/db base/bus \
    base/http base/telemetry policy/tlog policy/provenance compute/protocol billing \
    controlplane/admission controlplane/service controlplane/api))
$(eval $(call program,cresset-node,compute/node,$(core) base/json base/crypto base/bus base/fetch \
    base/jail base/telemetry policy/tlog policy/provenance compute/protocol billing compute/lease \
    compute/cache compute/launch))
$(eval $(call program,cresset-runner,compute/runner,$(core) base/json base/crypto base/jail \
    $(k) kernels/nn kernels/data kernels/cresset compute/protocol compute/train compute/batch))
$(eval $(call library,ops/dev,$(core) base/json base/crypto base/fetch))
$(eval $(call program,cresset,ops/cli,$(core) base/json base/crypto base/fetch base/yaml policy/tlog \
    policy/provenance compute/protocol billing ops/dev))

foreign := -lyaml -ljansson -lsodium -lpq -lnats -lmicrohttpd -lcurl -lseccomp -lutf8proc -lpthread -lm

# libcresset: the engine alone, for others to link with: build/lib/libcresset.a and .so.1. Of the
# shared one only what kernels/cresset/exports.map names can be seen.

engine := $(filter base/core base/json kernels/%,$(libraries))
ifeq ($(MODE),release)
all: build/lib/libcresset.a build/lib/libcresset.so.1
endif

build/lib/libcresset.a: $(foreach part,$(engine),$(objects_$(part)))
	@mkdir -p $(@D)
	@rm -f $@
	@$(AR) rcsD $@ $^

build/lib/libcresset.so.1: $(foreach part,$(engine),$(objects_$(part))) kernels/cresset/exports.map
	@mkdir -p $(@D)
	@echo "  link    $@"
	@$(CC) $(filter-out -fPIE,$(flags_$(MODE))) -shared -Wl,-soname,libcresset.so.1 \
	    -Wl,--version-script=kernels/cresset/exports.map -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs \
	    $(filter %.o,$^) -Wl,--as-needed -ljansson -lpthread -lm -o $@
	@ln -sf libcresset.so.1 build/lib/libcresset.so

# The tests ----------------------------------------------------------------------------------------
#
# Each tests/unit/test_*.c is a program of its own, linked with every library, the top floor first;
# so is each tests/integration/test_*.c, which speaks to real services.

archives := $(patsubst %,$(out)/lib/%.a,$(call reversed,$(libraries)))
tests    := $(patsubst %.c,$(out)/%,$(wildcard tests/unit/test_*.c))
integrations := $(patsubst %.c,$(out)/%,$(wildcard tests/integration/test_*.c))

$(tests) $(integrations): $(out)/%: %.c tests/unit/test.h $(archives)
	@mkdir -p $(@D)
	@echo "  test    $<"
	@$(CC) $(CPPFLAGS) -I. -Ibuild/generated $(CFLAGS) -MMD -MP $< $(LDFLAGS) -Wl,--start-group $(archives) -Wl,--end-group -lcmocka $(foreign) -o $@

-include $(tests:=.d) $(integrations:=.d)

# A program in a runner's place, for the tests of compute/launch. Never under a sanitizer, whose
# memory no jail would give it.
hostile_sources := tests/compute/hostile.c compute/protocol/frame.c compute/protocol/words.c \
                   $(wildcard base/core/*.c base/jail/*.c)

$(out)/tests/compute/hostile: $(hostile_sources) compute/protocol/frame.h
	@mkdir -p $(@D)
	@echo "  link    $@"
	@$(CC) -I. $(filter-out $(flags_$(MODE)),$(CFLAGS)) $(hardened) $(hostile_sources) $(relro) -lseccomp -lpthread -lm -o $@

$(out)/tests/unit/test_compute_launch_launch: $(out)/tests/compute/hostile

# Programs of vectors: the C files of tests/vectors/NAME make build/bin/tests/vectors/NAME, which
# holds what we compute against the published cases of a folder: make conformance-NAME [DATA=DIR].

define vectors
objects_vectors_$(1) := $$(patsubst %.c,$(out)/%.o,$$(wildcard tests/vectors/$(1)/*.c))
$$(objects_vectors_$(1)): $(out)/%.o: %.c Makefile
	@mkdir -p $$(@D)
	@$$(CC) $$(CPPFLAGS) -I. -Ibuild/generated $$(CFLAGS) -MMD -MP -c $$< -o $$@
$(bin)/tests/vectors/$(1): $$(objects_vectors_$(1)) $(foreach used,$(2),$(out)/lib/$(used).a)
	@mkdir -p $$(@D)
	@echo "  link    $$@"
	@$$(CC) $$(LDFLAGS) -Wl,--start-group $$^ -Wl,--end-group $$(foreign) -o $$@
.PHONY: conformance conformance-$(1)
conformance: conformance-$(1)
conformance-$(1): $(bin)/tests/vectors/$(1)
	@$(bin)/tests/vectors/$(1) $$(or $$(DATA),../shared/data/$(1))
-include $$(objects_vectors_$(1):.o=.d)
endef

$(eval $(call vectors,ledger,$(core) base/json base/crypto policy/tlog policy/provenance billing))

.PHONY: tests run-tests integration
tests: $(tests) $(integrations)
run-tests: $(tests)
	@set -e; for test in $(tests); do $$test; done
integration: $(integrations)
	@tests/harness/services sh -ec 'for test in $(integrations); do $$test; done'

check:
	@$(MAKE) --no-print-directory MODE=asan run-tests

# Each tests/fuzz/*.c is a fuzzer (MODE=fuzz). "make fuzz" lets each run on its corpus, and then for
# FUZZ_SECONDS on what it makes of it. What ever crashed one is added to tests/fuzz/corpus/NAME.

FUZZ_SECONDS ?= 10
fuzzers := $(patsubst %.c,$(out)/%,$(wildcard tests/fuzz/*.c))

$(fuzzers): $(out)/%: %.c $(archives)
	@mkdir -p $(@D)
	@echo "  fuzzer  $<"
	@$(CC) $(CPPFLAGS) -I. -Ibuild/generated $(CFLAGS) -MMD -MP $< -fsanitize=fuzzer $(LDFLAGS) -Wl,--start-group $(archives) -Wl,--end-group $(foreign) -o $@

-include $(fuzzers:=.d)

.PHONY: fuzz run-fuzzers
run-fuzzers: $(fuzzers)
	@set -e; for fuzzer in $(fuzzers); do name=$$(basename $$fuzzer); \
	    mkdir -p build/fuzz/corpus/$$name tests/fuzz/corpus/$$name; \
	    $$fuzzer -max_len=4096 -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -verbosity=0 \
	        -artifact_prefix=build/fuzz/$$name- build/fuzz/corpus/$$name tests/fuzz/corpus/$$name; \
	    echo "fuzz $$name: ok"; done

fuzz:
	@$(MAKE) --no-print-directory MODE=fuzz run-fuzzers

# Whole programs ------------------------------------------------------------------------------------
#
# What ops/check runs besides: the other compiler, the command line against the interface, the
# console, and regions of their own, each in a folder of its own and on free ports.

.PHONY: clang contract console e2e e2e-console chaos docs
clang:
	@$(MAKE) --no-print-directory MODE=clang all

contract: all
	@node tests/contract/openapi.mjs
	@node tests/contract/cli.mjs

console:
	@cd web/console && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund; } \
	    && npm run check && npm run build

e2e: all
	@tests/e2e/cli.sh
	@tests/e2e/job.sh
	@tests/e2e/faults.sh
	@tests/contract/matrix.sh
	@tests/e2e/streams.sh

e2e-console: all
	@tests/e2e/console.sh

chaos: all
	@tests/e2e/chaos.sh

# The handbook: web/docs and what is printed from the tables, as HTML for /docs and as manual pages.
docs: build/docs/.made
build/docs/.made: $(shell find web/docs -type f 2>/dev/null) web/docs/make.sh $(bin)/cresset $(bin)/cressetd
	@web/docs/make.sh build/docs
	@touch $@
ifeq ($(MODE),release)
all: docs
endif

# Yardsticks, not tests: they print what ours costs, beside a peer in the same run.

build/bin/bench-edge: tests/bench/edge.c Makefile
	@mkdir -p $(@D)
	@$(CC) $(CPPFLAGS) -I. $(CFLAGS) $< $(LDFLAGS) -lmicrohttpd -o $@

build/bin/bench-cpu: tests/bench/cpu.c $(archives)
	@mkdir -p $(@D)
	@$(CC) $(CPPFLAGS) -I. $(CFLAGS) $< $(LDFLAGS) -Wl,--start-group $(archives) -Wl,--end-group $(foreign) -ldl -o $@

.PHONY: bench-edge bench-cpu
bench-edge: all build/bin/bench-edge
	@tests/bench/edge.sh
bench-cpu: build/bin/bench-cpu
	@$<

# The rules ----------------------------------------------------------------------------------------
#
# Each library from outside comes in by one door: only the folder named here includes its header.
# A yardstick of tests/bench holds such a library bare beside its door.

doors := jansson.h:base/json libpq-fe.h:base/db postgresql/libpq-fe.h:base/db nats/nats.h:base/bus nats.h:base/bus \
         curl/curl.h:base/fetch sodium.h:base/crypto microhttpd.h:base/http seccomp.h:base/jail \
         utf8proc.h:ops/cli yaml.h:base/yaml

sources := $(shell find $(libraries) $(programs) tests -name '*.[ch]')

headers := $(filter %.h,$(sources))
scripts := $(shell grep -lE '^\#!/bin/(ba)?sh' $(wildcard ops/* ops/*/* tests/e2e/* tests/harness/* web/docs/* .ci/*) 2>/dev/null)
above   := $(patsubst %,$(out)/lib/%.a,$(filter kernels/% policy/% compute/% controlplane/% billing,$(libraries)))

.PHONY: lint-doors lint-headers lint-format lint-cppcheck lint-sizes lint-symbols lint-secrets lint-scripts elf
lint: lint-doors lint-sizes lint-headers lint-format lint-cppcheck lint-symbols lint-secrets lint-scripts

lint-doors:
	@for door in $(doors); do \
	    if grep -l "#include <$${door%:*}>" $(filter-out tests/bench/%,$(sources)) | grep -v "^$${door#*:}/"; \
	    then echo "   ... may not include $${door%:*}: its door is $${door#*:}"; exit 1; fi; done
	@if grep -n '#include "\.\./' $(sources); then echo "   ... steps around the view"; exit 1; fi

lint-sizes:
	@ops/lint/sizes.sh $(sources)

# Each header stands alone: it is compiled by itself, and again only when it changed.
lint-headers: $(headers:%=build/lint/%.alone)
build/lint/%.h.alone: %.h | $(statements)
	@mkdir -p $(@D)
	@echo '#include "$<"' | $(CC) $(CPPFLAGS) -I. -Ibuild/generated $(CFLAGS) -fsyntax-only -MMD -MP \
	    -MF $@.d -MT $@ -x c - || { echo "   ... $< does not stand alone"; exit 1; }
	@touch $@
-include $(headers:%=build/lint/%.alone.d)

lint-format: $(sources:%=build/lint/%.format)
build/lint/%.format: % .clang-format
	@mkdir -p $(@D)
	@clang-format --dry-run -Werror $<
	@touch $@

# Not asked of cppcheck 2.10: whether arrays that loops fill are initialised, and pointers behind a
# checked ternary, both of which it takes for wrong; what gcc defines of shifts and CR_MEMBER casts.
unasked := uninitvar ctuuninitvar nullPointerRedundantCheck internalAstError shiftTooManyBitsSigned floatConversionOverflow

lint-cppcheck:
	@mkdir -p build/lint/cppcheck
	@cppcheck --quiet --std=c11 --enable=warning,performance,portability --error-exitcode=1 -I. \
	    --cppcheck-build-dir=build/lint/cppcheck --inline-suppr $(unasked:%=--suppress=%) $(filter-out tests/%,$(filter %.c,$(sources)))

lint-symbols: $(above)
	@ops/lint/symbols.sh $(above)

lint-secrets:
	@node ops/lint/secrets.mjs

lint-scripts:
	@if command -v shellcheck >/dev/null; then shellcheck -x -S warning -e SC2317 $(scripts); fi

# What the released programs are linked as.
elf: all
	@ops/lint/elf.sh $(filter-out build/bin/tests,$(wildcard build/bin/*))

format:
	clang-format -i $(sources)

clean:
	rm -rf build
