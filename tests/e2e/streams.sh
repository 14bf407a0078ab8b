#!/bin/bash
# Streams of events that are cut and resumed tell each event once, with nats-server and without it.
# shellcheck source=tests/e2e/region.sh
. tests/e2e/region.sh
region_up

told() {
    CRESSET_KEY=$(key) node "$checkout/tests/e2e/streams.mjs" "$origin" 40
}
check 'of 40 cuts no event is missed, doubled or out of order' told
read -r nats _ <"$region/var/run/nats.pid"
check 'nats-server is killed' kill -9 "$nats"
check 'and of 40 cuts without it neither' told
region_end
