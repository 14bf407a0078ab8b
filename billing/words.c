/* words: what kinds, outcomes, programs and meters are called, and their numbers. */
#include "billing/billing.h"

#include <string.h>

struct word {
    const char *word;
    int64_t number;
};

#define WORD(word, number) #word,
#define ROW(word, number)  {#word, number},

const char *const billing_kind_words[] = {BILLING_KINDS(WORD) NULL};
const char *const billing_outcome_words[] = {BILLING_OUTCOMES(WORD) NULL};
const char *const billing_program_words[] = {BILLING_PROGRAMS(WORD) NULL};
const char *const billing_meter_words[] = {BILLING_METERS(WORD) NULL};

static const struct word kinds[] = {BILLING_KINDS(ROW){0}};
static const struct word outcomes[] = {BILLING_OUTCOMES(ROW){0}};
static const struct word programs[] = {BILLING_PROGRAMS(ROW){0}};
static const struct word meters[] = {BILLING_METERS(ROW){0}};

static int64_t number_of(const struct word *words, const char *word)
{
    for (; words->word; words++)
        if (strcmp(words->word, word) == 0)
            return words->number;
    return -1;
}

static const char *word_of(const struct word *words, int64_t number)
{
    for (; words->word; words++)
        if (words->number == number)
            return words->word;
    return NULL;
}

int64_t billing_kind_number(const char *word)
{
    return number_of(kinds, word);
}

int64_t billing_outcome_number(const char *word)
{
    return number_of(outcomes, word);
}

int64_t billing_program_number(const char *word)
{
    return number_of(programs, word);
}

int64_t billing_meter_number(const char *word)
{
    return number_of(meters, word);
}

const char *billing_kind_word(int64_t number)
{
    return word_of(kinds, number);
}

const char *billing_outcome_word(int64_t number)
{
    return word_of(outcomes, number);
}

const char *billing_program_word(int64_t number)
{
    return word_of(programs, number);
}

const char *billing_meter_word(int64_t number)
{
    return word_of(meters, number);
}

bool billing_outcome_is_platform(const char *outcome)
{
    int64_t number = billing_outcome_number(outcome);
    return number == BILLING_OUTCOME_preempted || number == BILLING_OUTCOME_platform_error;
}
