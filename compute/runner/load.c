/* load: what the agent has handed in by number. Nothing of a tenant is read before the seal. */
#include "compute/runner/runner.h"

#include "base/json/json.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A whole descriptor in memory. The spec is a tenant's: its bytes are mapped here, and read later.
 */
static enum cr_status map(struct cr_call *call, const char *name, int descriptor,
                          struct protocol_mapped *ret_mapped)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "there is no %s", name);
    size_t size = (size_t)about.st_size;
    void *data = NULL;
    if (size > 0)
        data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED)
        return cr_fail(call, CR_UNAVAILABLE, "%s cannot be mapped: %s", name, strerror(errno));
    *ret_mapped = (struct protocol_mapped){.name = name, .data = data, .size = size};
    return CR_OK;
}

static enum cr_status map_inputs(struct cr_call *call, struct runner_load *load)
{
    const struct protocol_descriptor *inputs = load->table.inputs.items;
    for (size_t i = 0; i < load->table.inputs.count; i++) {
        struct protocol_mapped *to = &load->inputs[load->input_count];
        if (strcmp(inputs[i].name, PROTOCOL_INPUT_PROGRAM) == 0)
            to = &load->model;
        else if (strcmp(inputs[i].name, PROTOCOL_INPUT_RESUME) == 0)
            to = &load->resume;
        else if (load->input_count == PROTOCOL_INPUTS_MAX)
            return cr_fail(call, CR_INVALID, "there are too many inputs");
        else
            load->input_count++;
        CR_TRY(map(call, inputs[i].name, (int)inputs[i].descriptor, to));
    }
    return CR_OK;
}

enum cr_status load_read(struct cr_call *call, struct runner_load *ret_load)
{
    struct runner_load *load = ret_load;
    struct protocol_mapped table;
    CR_TRY(map(call, "table", PROTOCOL_FD_TABLE, &table));
    CR_TRY(
        json_read(call, &protocol_table_shape, (const char *)table.data, table.size, &load->table));
    CR_TRY(map_inputs(call, load));
    const struct protocol_descriptor *outputs = load->table.outputs.items;
    for (size_t i = 0; i < load->table.outputs.count; i++)
        load->outputs[load->output_count++] =
            (struct protocol_file){outputs[i].name, (int)outputs[i].descriptor};
    const struct protocol_descriptor *slots = load->table.slots.items;
    for (size_t i = 0; i < load->table.slots.count; i++)
        load->slots[load->slot_count++] = (int)slots[i].descriptor;
    return CR_OK;
}
