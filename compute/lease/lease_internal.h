/* lease_internal: what the files of lease share. */
#pragma once

#include "compute/lease/lease.h"

#include <string.h>

#define LEASE_NS_A_SECOND INT64_C(1000000000)

/* One stamp closes the segment of the device's present use and opens that of the next. */
void lease_device_use(struct lease_device *device, enum lease_use use, int64_t now_ns);
