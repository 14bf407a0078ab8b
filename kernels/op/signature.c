/* signature: what a row takes and gives, read from its text. */
#include "kernels/op/op_internal.h"

#include <ctype.h>

struct reader {
    struct cr_call *call;
    const char *text, *at;
    struct op_signature *to;
};

static enum cr_status wrong(struct reader *in, const char *what)
{
    return cr_fail(in->call, CR_INVALID, "signature '%s', byte %zu: %s", in->text,
                   (size_t)(in->at - in->text), what);
}

static bool take(struct reader *in, const char *sign)
{
    while (*in->at == ' ')
        in->at++;
    size_t length = strlen(sign);
    if (strncmp(in->at, sign, length) != 0)
        return false;
    in->at += length;
    return true;
}

static const char *take_word(struct reader *in)
{
    size_t length = 0;
    take(in, "");
    while (isalnum((unsigned char)in->at[length]) || in->at[length] == '_')
        length++;
    const char *word = cr_copy(in->call, in->at, length);
    in->at += length;
    return word;
}

/* The shape in brackets is for people. */
static void pass_shape(struct reader *in)
{
    if (take(in, "["))
        while (*in->at != '\0' && *in->at++ != ']') {
        }
}

static uint8_t variable_of(struct reader *in, const char *name)
{
    struct op_signature *to = in->to;
    for (int i = 0; i < to->variable_count; i++)
        if (strcmp(to->variables[i].name, name) == 0)
            return (uint8_t)i;
    to->variables[to->variable_count].name = name;
    return (uint8_t)to->variable_count++;
}

static enum cr_status read_input(struct reader *in)
{
    struct op_signature *to = in->to;
    if (to->input_count == OP_INPUTS_MAX)
        return wrong(in, "too many inputs");
    struct op_input *input = &to->inputs[to->input_count];
    input->name = take_word(in);
    input->optional = take(in, "?");
    if (!take(in, ":"))
        return wrong(in, "':' is missing");
    const char *type = take_word(in);
    pass_shape(in);
    input->dtype = (uint8_t)dtype_of_name(type, strlen(type));
    if (input->dtype == DTYPE_NONE)
        input->variable = variable_of(in, type);
    to->input_count++;
    if (!input->optional)
        to->required_inputs = to->input_count;
    return CR_OK;
}

static const struct {
    const char *word;
    enum op_datum_kind kind;
} attr_kinds[] = {{"int", OP_DATUM_INT},
                  {"ints", OP_DATUM_INTS},
                  {"float", OP_DATUM_FLOAT},
                  {"bool", OP_DATUM_BOOL},
                  {"dtype", OP_DATUM_DTYPE}};

static enum cr_status read_words(struct reader *in, struct op_attr *attr, const char *first)
{
    attr->kind = OP_DATUM_WORD;
    attr->words[attr->word_count++] = first;
    while (take(in, "|")) {
        if (attr->word_count == OP_FORMULA_MAX)
            return wrong(in, "too many words");
        attr->words[attr->word_count++] = take_word(in);
    }
    return CR_OK;
}

static enum cr_status read_list(struct reader *in, struct op_datum *standard)
{
    int64_t *list = cr_new(in->call, int64_t, OP_LIST_MAX);
    if (!take(in, "["))
        return wrong(in, "'[' is missing");
    while (!take(in, "]")) {
        char *end;
        take(in, ",");
        list[standard->count++] = strtoll(in->at, &end, 10);
        if (end == in->at || standard->count == OP_LIST_MAX)
            return wrong(in, "a number is missing");
        in->at = end;
    }
    standard->list = list;
    return CR_OK;
}

static enum cr_status read_default(struct reader *in, struct op_attr *attr)
{
    char *end;
    struct op_datum *standard = &attr->standard;
    standard->kind = attr->kind;
    if (attr->kind == OP_DATUM_INTS)
        return read_list(in, standard);
    take(in, "");
    if (attr->kind == OP_DATUM_INT) {
        standard->integer = strtoll(in->at, &end, 10);
        in->at = end;
    } else if (attr->kind == OP_DATUM_FLOAT) {
        standard->number = strtod(in->at, &end);
        in->at = end;
    } else if (attr->kind == OP_DATUM_BOOL) {
        standard->integer = strcmp(take_word(in), "true") == 0;
    } else {
        const char *word = take_word(in);
        for (int i = 0; i < attr->word_count; i++)
            if (strcmp(attr->words[i], word) == 0)
                standard->integer = i;
    }
    return CR_OK;
}

static enum cr_status read_attr(struct reader *in)
{
    if (in->to->attr_count == OP_ATTRS_MAX)
        return wrong(in, "too many attributes");
    struct op_attr *attr = &in->to->attrs[in->to->attr_count++];
    attr->name = take_word(in);
    if (!take(in, ":"))
        return wrong(in, "':' is missing");
    const char *kind = take_word(in);
    for (size_t i = 0; i < sizeof attr_kinds / sizeof attr_kinds[0]; i++)
        if (strcmp(attr_kinds[i].word, kind) == 0)
            attr->kind = attr_kinds[i].kind;
    if (attr->kind == OP_DATUM_NONE)
        CR_TRY(read_words(in, attr, kind));
    attr->required = !take(in, "=");
    return attr->required ? CR_OK : read_default(in, attr);
}

static enum cr_status read_output(struct reader *in)
{
    struct op_signature *to = in->to;
    if (to->output_count == OP_OUTPUTS_MAX)
        return wrong(in, "too many outputs");
    struct op_output *output = &to->outputs[to->output_count++];
    output->name = take_word(in);
    output->attr = -1;
    if (!take(in, ":"))
        return wrong(in, "':' is missing");
    const char *type = take_word(in);
    pass_shape(in);
    output->dtype = (uint8_t)dtype_of_name(type, strlen(type));
    for (int i = 0; i < to->attr_count; i++)
        if (to->attrs[i].kind == OP_DATUM_DTYPE && strcmp(to->attrs[i].name, type) == 0)
            output->attr = (int8_t)i;
    if (output->dtype == DTYPE_NONE && output->attr < 0)
        output->variable = variable_of(in, type);
    return CR_OK;
}

#define BIT(class) (1u << (class))

static enum cr_status read_variable(struct reader *in)
{
    struct op_variable *variable = &in->to->variables[variable_of(in, take_word(in))];
    if (!take(in, ":"))
        return wrong(in, "':' is missing");
    const char *class = take_word(in);
    unsigned integers = BIT(DTYPE_SIGNED) | BIT(DTYPE_UNSIGNED);
    if (strcmp(class, "float") == 0)
        variable->classes = BIT(DTYPE_FLOAT);
    else if (strcmp(class, "integer") == 0)
        variable->classes = integers;
    else if (strcmp(class, "number") == 0)
        variable->classes = BIT(DTYPE_FLOAT) | integers;
    else if (strcmp(class, "any") == 0)
        variable->classes = BIT(DTYPE_FLOAT) | integers | BIT(DTYPE_TRUTH);
    else
        return wrong(in, "an unknown class");
    return CR_OK;
}

enum cr_status op_signature_read(struct cr_call *call, const char *text,
                                 struct op_signature *ret_signature)
{
    struct op_signature *signature = cr_new(call, struct op_signature, 1);
    struct reader in = {.call = call, .text = text, .at = text, .to = signature};
    if (!take(&in, "("))
        return wrong(&in, "'(' is missing");
    bool attrs = take(&in, ";");
    while (!take(&in, ")")) {
        CR_TRY(attrs ? read_attr(&in) : read_input(&in));
        if (take(&in, ";"))
            attrs = true;
        else
            take(&in, ",");
    }
    if (!take(&in, "->") || !take(&in, "("))
        return wrong(&in, "'-> (' is missing");
    while (!take(&in, ")")) {
        CR_TRY(read_output(&in));
        take(&in, ",");
    }
    while (take(&in, ";"))
        CR_TRY(read_variable(&in));
    if (*in.at != '\0')
        return wrong(&in, "something is left over");
    *ret_signature = *signature;
    return CR_OK;
}
