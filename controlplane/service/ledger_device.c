/* ledger_device: what each device was, from one stamp to the next. */
#include "controlplane/service/ledger_internal.h"

#include "controlplane/service/ledger_sql.h"

struct stamped {
    int64_t at_us, devices;
};
static const struct cr_member stamped_members[] = {
    CR_MEMBER(struct stamped, at_us, 0, 0),
    CR_MEMBER(struct stamped, devices, 0, 0),
};
static const struct cr_shape stamped_shape = CR_SHAPE(struct stamped, stamped_members);

enum cr_status ledger_stamp(struct cr_call *call, struct db *db, const struct ledger_change *change,
                            int64_t *ret_at_us)
{
    bool is_leased = change->state == LEDGER_LEASED, found = false;
    struct stamped stamped = {0};
    CR_TRY(db_one(call, db, &ledger_stamp_devices,
                  DB_VALUES(db_texts(change->devices, change->device_count), db_int(change->state),
                            db_text(is_leased ? change->job : NULL),
                            db_int(is_leased ? change->lease_epoch : CR_NO_INTEGER),
                            db_int(is_leased ? change->member : CR_NO_INTEGER),
                            db_text(change->reason)),
                  &stamped_shape, &stamped, &found));
    if (!found || stamped.devices != (int64_t)change->device_count)
        return cr_fail(call, CR_INTERNAL, "device %s is not known", change->devices[0]);
    *ret_at_us = stamped.at_us;
    return CR_OK;
}
