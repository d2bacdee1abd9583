/* A model whose answers are wrong in the way that MODE says, so that the command's words about them can be tested. */
#include "weir_plugin.h"

#ifndef KEY
#define KEY "ail"
#endif

enum { HANGS, PANICS, REFUSES, ODD_RECORD, CYCLE, HANGS_IN_ESTIMATE };

static int32_t create(const weir_host *host, void **state, weir_err *err)
{
    (void)host;
    (void)err;
    *state = NULL;
    return WEIR_OK;
}

static void destroy(void *state)
{
    (void)state;
}

static int32_t plan(void *state, const char *operation, size_t len, const weir_surroundings *around,
                    const weir_planner *planner, weir_err *err)
{
    static const weir_wait itself = {0, WEIR_MOMENT_END};
    volatile int forever = MODE == HANGS;
    weir_task task = weir_plain_task("one");
    (void)state;
    (void)operation;
    (void)len;
    (void)around;
    while (forever) {
    }
    if (MODE == PANICS) {
        weir_fail(err, "the model is at its end");
        return WEIR_PANIC;
    }
    if (MODE == REFUSES) {
        return weir_fail(err, "amount: nobody has so much; ask for less");
    }
    task.queue = MODE == ODD_RECORD ? 7 : WEIR_QUEUE_READY;
    task.waits.data = &itself;
    task.waits.len = MODE == CYCLE ? 1 : 0;
    planner->emit_task(planner, &task);
    return WEIR_OK;
}

static int32_t estimate(void *state, const char *operation, size_t len, const weir_surroundings *around,
                        const weir_estimator *estimator, weir_err *err)
{
    volatile int forever = MODE == HANGS_IN_ESTIMATE;
    (void)state;
    (void)operation;
    (void)len;
    (void)around;
    (void)estimator;
    (void)err;
    while (forever) {
    }
    return WEIR_OK;
}

static const weir_model_table table = {
    {WEIR_MAGIC, WEIR_ABI_MAJOR, WEIR_ABI_MINOR_MODEL, sizeof(weir_model_table), sizeof(weir_task), WEIR_KIND_MODEL, 0},
    "sick-model",
    "1.0.0",
    KEY,
    "{\"properties\": {\"" KEY "\": {\"type\": \"object\", \"properties\": {\"amount\": {\"type\": \"integer\"}}}}}",
    create,
    destroy,
    plan,
    estimate,
    NULL,
};

const weir_model_table *weir_model(uint32_t index)
{
    return index == 0 ? &table : NULL;
}
