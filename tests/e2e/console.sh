#!/bin/bash
# The console in headless Chromium, against a region of its own.
# shellcheck source=tests/e2e/region.sh
. tests/e2e/region.sh
[ -f web/console/dist/index.html ] || make --no-print-directory console
region_up
check 'the dataset is stored' push_dataset
url=$(dev login)
if node tests/e2e/console.mjs "$url" "${PICTURES:-}"; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
fi
region_end
