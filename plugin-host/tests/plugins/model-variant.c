/* A model whose table is right unless a macro makes it wrong; what it emits is what the operation's text asks for, which
 * the host hands over as it is. */
#include "weir_plugin.h"

#ifndef MAGIC
#define MAGIC WEIR_MAGIC
#endif
#ifndef MAJOR
#define MAJOR WEIR_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR WEIR_ABI_MINOR_MODEL
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(weir_model_table)
#endif
#ifndef VIEW_SIZE
#define VIEW_SIZE sizeof(weir_task)
#endif
#ifndef KIND
#define KIND WEIR_KIND_MODEL
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef NAME
#define NAME "variant"
#endif
#ifndef VERSION
#define VERSION "1.0.0"
#endif
#ifndef OPERATIONS
#define OPERATIONS "variant"
#endif
#ifndef SCHEMA
#define SCHEMA "{\"properties\": {\"variant\": {}, \"other\": {}, \"put\": {}, \"transfer\": {}}}"
#endif
#ifndef CREATE
#define CREATE create
#endif
#ifndef DESTROY
#define DESTROY destroy
#endif
#ifndef PLAN
#define PLAN plan
#endif
#ifndef ESTIMATE
#define ESTIMATE estimate
#endif
#ifndef ALTERNATIVES
#define ALTERNATIVES alternatives
#endif
#ifndef ALTERNATIVE
#define ALTERNATIVE "{}"
#endif
#ifndef TABLES
#define TABLES (index == 0 ? &table : NULL)
#endif

static const char latin_1[] = "caf\xe9";

static int is(const char *operation, size_t len, const char *text)
{
    return len == strlen(text) && memcmp(operation, text, len) == 0;
}

int32_t create(const weir_host *, void **, weir_err *);
int32_t create(const weir_host *host, void **state, weir_err *err)
{
    (void)err;
    host->log(host, 3, "created", 7);
    *state = (void *)host;
    return WEIR_OK;
}

void destroy(void *);
void destroy(void *state)
{
    const weir_host *host = state;
    host->log(host, 3, "destroyed", 9);
}

/* A task for each question about a route: how it was answered. */
static void ask(const weir_surroundings *around, const weir_planner *planner, uint32_t from, uint32_t to)
{
    weir_route_info info = {-1.0, -1.0, 7};
    weir_task task = weir_plain_task("asked");
    task.class_id = (uint32_t)around->route(around, from, to, &info);
    task.lead_ps = info.bandwidth;
    task.gap_ps = info.latency_ps;
    task.from = info.links;
    planner->emit_task(planner, &task);
}

/* Everything that is right, in two engines and three tasks. */
static void plan_plainly(const weir_planner *planner)
{
    const weir_wait waits[2] = {{0, WEIR_MOMENT_END}, {2, WEIR_MOMENT_START}};
    weir_engine engine = {{NULL, 0}, 2, WEIR_SCOPE_DEVICE, 3};
    weir_task task = weir_plain_task("first");
    engine.name = weir_text("copy");
    planner->emit_engine(planner, &engine);
    engine.scope = WEIR_SCOPE_OPERATION;
    engine.slots = 1;
    engine.name.data = NULL; /* allowed where it is empty */
    engine.name.len = 0;
    task.engine = planner->emit_engine(planner, &engine);
    planner->emit_task(planner, &task);
    task = weir_plain_task("second");
    task.waits.data = waits;
    task.waits.len = 2;
    task.engine = 0;
    task.queue = WEIR_QUEUE_ISSUED;
    task.class_id = 5;
    task.work = WEIR_WORK_LASTS;
    task.lead_ps = 1.5;
    task.gap_ps = 2.5;
    task.lasts_ps = 3.5;
    planner->emit_task(planner, &task);
    task = weir_plain_task("third");
    task.work = WEIR_WORK_CARRIES;
    task.from = 1;
    task.to = 2;
    task.bytes = 100;
    planner->emit_task(planner, &task);
}

int32_t plan(void *, const char *, size_t, const weir_surroundings *, const weir_planner *, weir_err *);
int32_t plan(void *state, const char *operation, size_t len, const weir_surroundings *around, const weir_planner *planner,
             weir_err *err)
{
    const weir_wait never = {0, 9};
    weir_engine engine = {{NULL, 0}, 1, 9, 0};
    weir_task task = weir_plain_task("odd");
    (void)state;
    if (is(operation, len, "right")) {
        plan_plainly(planner);
        return WEIR_OK;
    }
    if (is(operation, len, "routes")) {
        ask(around, planner, 1, 3);
        ask(around, planner, 2, 2);
        ask(around, planner, 1, (uint32_t)around->fabric->node_kind.len);
        ask(around, planner, (uint32_t)around->fabric->node_kind.len, 1);
        ask(around, planner, WEIR_NONE, 1);
        task.class_id = (uint32_t)around->route(around, 1, 2, NULL);
        planner->emit_task(planner, &task);
        return WEIR_OK;
    }
    if (is(operation, len, "refuse")) {
        return weir_fail(err, "packet: must not be 0");
    }
    if (is(operation, len, "code")) {
        return 7;
    }
    if (is(operation, len, "panic")) {
        task.queue = 9;
        planner->emit_task(planner, &task);
        weir_fail(err, "given up");
        return WEIR_PANIC;
    }
    engine.name = weir_text("odd");
    task.queue = is(operation, len, "queue") ? 9 : WEIR_QUEUE_READY;
    task.work = is(operation, len, "work") ? 9 : WEIR_WORK_NOTHING;
    task.waits.data = &never;
    task.waits.len = is(operation, len, "moment") ? 1 : 0;
    if (is(operation, len, "name")) {
        task.name = weir_text(latin_1);
    }
    if (is(operation, len, "scope")) {
        planner->emit_engine(planner, &engine);
    }
    if (is(operation, len, "engine-name")) {
        engine.name = weir_text(latin_1);
        planner->emit_engine(planner, &engine);
    }
    if (is(operation, len, "null-engine")) {
        planner->emit_engine(planner, NULL);
    }
    /* What is emitted after a refusal is refused, and the error is the first refusal's. */
    if (planner->emit_task(planner, is(operation, len, "null-task") ? NULL : &task) != WEIR_NONE) {
        return weir_fail(err, "nothing was refused");
    }
    return weir_fail(err, "the host refused something");
}

int32_t estimate(void *, const char *, size_t, const weir_surroundings *, const weir_estimator *, weir_err *);
int32_t estimate(void *state, const char *operation, size_t len, const weir_surroundings *around,
                 const weir_estimator *estimator, weir_err *err)
{
    weir_estimate record = {{NULL, 0}, {NULL, 0}, 0.5, WEIR_RELATION_AT_LEAST};
    (void)state;
    (void)around;
    (void)err;
    record.formula = weir_text(is(operation, len, "formula") ? latin_1 : "eq1");
    record.because = weir_text(is(operation, len, "because") ? latin_1 : "");
    record.relation = is(operation, len, "relation") ? 9 : WEIR_RELATION_AT_LEAST;
    estimator->emit_estimate(estimator, is(operation, len, "null") ? NULL : &record);
    if (is(operation, len, "details")) {
        estimator->emit_details(estimator, latin_1, sizeof latin_1 - 1);
    }
    if (is(operation, len, "twice")) {
        estimator->emit_details(estimator, "{}", 2);
    }
    estimator->emit_details(estimator, "{}", 2);
    return WEIR_OK;
}

int32_t alternatives(void *, const char *, size_t, const weir_surroundings *, const weir_chooser *, weir_err *);
int32_t alternatives(void *state, const char *operation, size_t len, const weir_surroundings *around,
                     const weir_chooser *chooser, weir_err *err)
{
    weir_alternative record;
    (void)state;
    (void)around;
    (void)err;
    record.label = weir_text(is(operation, len, "label") ? latin_1 : "none");
    record.operation = weir_text(is(operation, len, "operation") ? latin_1 : ALTERNATIVE);
    chooser->emit_alternative(chooser, is(operation, len, "null") ? NULL : &record);
    return WEIR_OK;
}

static const weir_model_table table = {
    {MAGIC, MAJOR, MINOR, TABLE_SIZE, VIEW_SIZE, KIND, FLAGS}, NAME, VERSION, OPERATIONS, SCHEMA, CREATE, DESTROY, PLAN,
    ESTIMATE, ALTERNATIVES,
};

#ifdef SECOND
static const weir_model_table second = {
    {MAGIC, MAJOR, MINOR, TABLE_SIZE, VIEW_SIZE, KIND, FLAGS}, "second", VERSION, SECOND, SCHEMA, CREATE, DESTROY, PLAN,
    ESTIMATE, ALTERNATIVES,
};
#undef TABLES
#define TABLES (index == 0 ? &table : index == 1 ? &second : NULL)
#endif

const weir_model_table *weir_model(uint32_t index)
{
    (void)index;
    return TABLES;
}

#ifdef NO_ARBITERS
/* The function is there, and lists nothing. */
const weir_arbiter_table *weir_arbiter(uint32_t index)
{
    (void)index;
    return NULL;
}
#endif
