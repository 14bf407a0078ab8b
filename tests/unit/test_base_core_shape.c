/* shape: bounds hold at their edges, in nested members too, and a fault names its member. */
#include "tests/unit/test.h"

#include "base/core/shape.h"

#include <math.h>

struct leaf {
    int64_t count;
};
static const struct cr_member leaf_members[] = {CR_MEMBER(struct leaf, count, 1, 3)};
static const struct cr_shape leaf_shape = CR_SHAPE(struct leaf, leaf_members);

static const char *const colours[] = {"red", "green", NULL};

struct tree {
    const char *name, *colour, *job;
    double height;
    struct leaf *leaf;
    struct cr_list leaves;
    int64_t age;
};
static const struct cr_member tree_members[] = {
    CR_MEMBER(struct tree, name, 1, 4),
    CR_WORD(struct tree, colour, colours, .flags = CR_OPTIONAL),
    CR_ID(struct tree, job, "job", .flags = CR_OPTIONAL),
    CR_MEMBER(struct tree, height, 0, 2.5),
    CR_OBJECT(struct tree, leaf, &leaf_shape, .flags = CR_NULLABLE),
    CR_LIST(struct tree, leaves, &leaf_shape, 0, 2, .flags = CR_OPTIONAL),
    CR_MEMBER(struct tree, age, 0, 9, .flags = CR_NULLABLE),
};
static const struct cr_shape tree_shape = CR_SHAPE(struct tree, tree_members);

static void what_is_within_its_bounds_passes(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct leaf leaf = {3}, leaves[] = {{1}, {2}};
    struct tree tree = {.name = "oak",
                        .colour = "green",
                        .job = "job_01M8RHHQPNQ4ZK9W7V2X5T8RND",
                        .height = 2.5,
                        .leaf = &leaf,
                        .leaves = {leaves, 2},
                        .age = 9};
    assert_ok(&call, cr_shape_check(&call, &tree_shape, &tree));
    struct tree bare = {.name = "oak", .age = CR_NO_INTEGER};
    assert_ok(&call, cr_shape_check(&call, &tree_shape, &bare));
}

static void all_faults_are_told_each_under_its_pointer(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct leaf leaf = {4}, leaves[] = {{1}, {0}, {1}};
    struct tree tree = {.name = "",
                        .colour = "blue",
                        .job = "node_01M8RHHQPNQ4ZK9W7V2X5T8RND",
                        .height = NAN,
                        .leaf = &leaf,
                        .leaves = {leaves, 3},
                        .age = 10};
    static const char *const wanted[][2] = {
        {"/name", "name must be 1 to 4 bytes long"},
        {"/colour", "colour must be one of red, green"},
        {"/job", "job is a node id, this wants a job id"},
        {"/height", "height is missing"},
        {"/leaf/count", "count must be 1 to 3"},
        {"/leaves", "leaves must be 0 to 2 items long"},
        {"/leaves/1/count", "count must be 1 to 3"},
        {"/age", "age must be 0 to 9"},
    };
    size_t count = sizeof wanted / sizeof wanted[0];
    assert_int_equal(cr_shape_faults(&call, &tree_shape, &tree, ""), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(call.faults[i].at, wanted[i][0]);
        assert_string_equal(call.faults[i].detail, wanted[i][1]);
    }
}

struct wood {
    struct cr_integers rings;
};
static const struct cr_member wood_members[] = {
    CR_INTEGERS(struct wood, rings, 1, 3, 1, 8192),
};
static const struct cr_shape wood_shape = CR_SHAPE(struct wood, wood_members);

static void a_list_of_integers_bounds_its_count_and_each_of_them(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct wood good = {{(const int64_t[]){1, 8192}, 2}};
    assert_ok(&call, cr_shape_check(&call, &wood_shape, &good));

    struct wood bad = {{(const int64_t[]){5, 0, 8193, 2}, 4}};
    assert_int_equal(cr_shape_faults(&call, &wood_shape, &bad, ""), 3);
    assert_string_equal(call.faults[0].at, "/rings");
    assert_string_equal(call.faults[1].at, "/rings/1");
    assert_string_equal(call.faults[2].detail, "each of rings must be 1 to 8192");
    struct wood none = {0};
    assert_int_equal(cr_shape_faults(&call, &wood_shape, &none, ""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_within_its_bounds_passes),
        cmocka_unit_test(all_faults_are_told_each_under_its_pointer),
        cmocka_unit_test(a_list_of_integers_bounds_its_count_and_each_of_them),
    };
    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
