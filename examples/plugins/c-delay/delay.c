/* Example of a weir plugin in C: the model `delay`, an operation that takes a fixed time and nothing else.
 *
 *     workload:
 *       - delay: { id: d, time: 3us }
 *
 * Definition: one task without an engine that lasts `time`.
 * Estimate `delay`: the time itself; equal to the simulated one.
 * Refused: a time that is missing or not a number, which the host has ruled out by the schema; a plugin that can say no
 * should.
 */
#include "weir_plugin.h"

#include <stdlib.h>

static int32_t create(const weir_host *host, void **state, weir_err *err)
{
    (void)host;
    (void)err;
    *state = NULL; /* nothing is kept between calls */
    return WEIR_OK;
}

static void destroy(void *state)
{
    (void)state;
}

/* The number behind the key "time" of an operation, in ps; -1 where there is none. A text that reads the same is told from
 * the key by the colon, which follows only a key; quotes inside of texts are escaped. */
static double time_of(const char *operation, size_t len)
{
    static const char key[] = "\"time\"";
    double value = -1.0;
    const char *at;
    char *text = malloc(len + 1); /* the operation has no NUL at its end */
    if (text == NULL) {
        return -1.0;
    }
    memcpy(text, operation, len);
    text[len] = '\0';
    for (at = strstr(text, key); at != NULL; at = strstr(at, key)) {
        char *end;
        at += sizeof key - 1;
        at += strspn(at, " \t\r\n");
        if (*at == ':') {
            value = strtod(at + 1, &end);
            value = end != at + 1 && value >= 0.0 && value <= 1e18 ? value : -1.0;
            break;
        }
    }
    free(text);
    return value;
}

static int32_t plan(void *state, const char *operation, size_t len, const weir_surroundings *surroundings,
                    const weir_planner *planner, weir_err *err)
{
    weir_task task = weir_plain_task("delay");
    (void)state;
    (void)surroundings;
    task.work = WEIR_WORK_LASTS;
    task.lasts_ps = time_of(operation, len);
    if (task.lasts_ps < 0.0) {
        return weir_fail(err, "time: give a time such as 3us");
    }
    planner->emit_task(planner, &task);
    return WEIR_OK;
}

static int32_t estimate(void *state, const char *operation, size_t len, const weir_surroundings *surroundings,
                        const weir_estimator *estimator, weir_err *err)
{
    const double ps = time_of(operation, len);
    weir_estimate record;
    (void)state;
    (void)surroundings;
    if (ps < 0.0) {
        return weir_fail(err, "time: give a time such as 3us");
    }
    record.formula = weir_text("delay");
    record.because = weir_text("");
    record.seconds = ps / 1e12;
    record.relation = WEIR_RELATION_EQUAL;
    estimator->emit_estimate(estimator, &record);
    return WEIR_OK;
}

static const weir_model_table table = {
    {WEIR_MAGIC, WEIR_ABI_MAJOR, WEIR_ABI_MINOR_MODEL, sizeof(weir_model_table), sizeof(weir_task), WEIR_KIND_MODEL, 0},
    "delay",
    "1.0.0",
    "delay",
    "{\"type\": \"object\","
    " \"properties\": {\"delay\": {\"type\": \"object\","
    "  \"properties\": {\"time\": {\"type\": \"integer\", \"x-weir-quantity\": \"time\","
    "   \"description\": \"How long it takes.\"}},"
    "  \"required\": [\"time\"], \"additionalProperties\": false}},"
    " \"additionalProperties\": false}",
    create,
    destroy,
    plan,
    estimate,
    NULL, /* nothing is left open */
};

const weir_model_table *weir_model(uint32_t index)
{
    return index == 0 ? &table : NULL;
}
