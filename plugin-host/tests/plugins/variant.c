/* A plugin whose table is right unless a macro makes it wrong; the tests compile it in many ways. */
#include "weir_plugin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef MAGIC
#define MAGIC WEIR_MAGIC
#endif
#ifndef MAJOR
#define MAJOR WEIR_ABI_MAJOR
#endif
/* With CAPACITY, what the function of this name does, the table describes itself. */
#ifdef CAPACITY
#ifndef MINOR
#define MINOR WEIR_ABI_MINOR_DESCRIBED_ARBITER
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(weir_described_arbiter_table)
#endif
#endif
#ifndef MINOR
#define MINOR WEIR_ABI_MINOR_ARBITER
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(weir_arbiter_table)
#endif
#ifndef VIEW_SIZE
#define VIEW_SIZE sizeof(weir_phase)
#endif
#ifndef KIND
#define KIND WEIR_KIND_ARBITER
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
#ifndef SCHEMA
#define SCHEMA "{\"type\": \"object\"}"
#endif
#ifndef CREATE
#define CREATE create
#endif
#ifndef DESTROY
#define DESTROY destroy
#endif
#ifndef RESET
#define RESET reset
#endif
#ifndef ADMIT
#define ADMIT admit
#endif
#ifndef ALLOCATE
#define ALLOCATE allocate
#endif
#ifndef EXPLAIN
#define EXPLAIN explain
#endif
#ifndef ENTRY
#define ENTRY weir_arbiter
#endif
#ifndef TABLES
#define TABLES (index == 0 ? &table : NULL)
#endif

/* What create and destroy do besides. */
#ifndef STEP_RATE
#define STEP_RATE 5.0
#endif
#ifndef IN_CREATE
#define IN_CREATE
#endif
#ifndef IN_DESTROY
#define IN_DESTROY
#endif

/* Never returns. */
void sleeps(void);
void sleeps(void)
{
    for (;;) {
        sleep(1);
    }
}

#ifdef START_UP
__attribute__((constructor)) static void start_up(void)
{
    START_UP;
}
#endif

#ifdef AT_END
__attribute__((destructor)) static void at_end(void)
{
    AT_END;
}
#endif

#ifdef IN_THREAD
/* C11; the compiler is asked for C99. */
void quick_exit(int code);

static void *in_thread(void *nothing)
{
    IN_THREAD;
    return nothing;
}
#endif

#ifdef UNDEFINED
extern int UNDEFINED(void);
int call_it(void);
int call_it(void)
{
    return UNDEFINED();
}
#endif

/* What allocate returns is the first transfer's id where that is not 0. */
int32_t create(const weir_host *, const weir_fabric *, const char *, size_t, void **, weir_err *);
int32_t create(const weir_host *host, const weir_fabric *fabric, const char *params, size_t len, void **state,
               weir_err *err)
{
    (void)fabric;
    (void)err;
    host->log(host, 2, params, len);
    *state = (void *)host;
#ifdef IN_THREAD
    {
        pthread_t thread;
        pthread_create(&thread, NULL, in_thread, NULL);
    }
#endif
    IN_CREATE;
    return WEIR_OK;
}

void destroy(void *);
void destroy(void *state)
{
    const weir_host *host = state;
    host->log(host, 3, "destroyed", 9);
    IN_DESTROY;
}

int32_t reset(void *, weir_err *);
int32_t reset(void *state, weir_err *err)
{
    (void)state;
    return weir_fail(err, "cannot reset");
}

int32_t admit(void *, const uint32_t *, size_t, weir_err *);
int32_t admit(void *state, const uint32_t *links, size_t len, weir_err *err)
{
    char text[80];
    const weir_host *host = state;
    if (host->cancelled(host)) {
        return weir_fail(err, "interrupted");
    }
    if (len < 3) {
        return WEIR_OK;
    }
    snprintf(text, sizeof text, "%u links from %u to %u\nare too many", (unsigned)len, links[0], links[len - 1]);
    return weir_fail(err, text);
}

int32_t allocate(void *, const weir_phase *, double *, weir_binding *, uint64_t *, weir_err *);
int32_t allocate(void *state, const weir_phase *phase, double *rates, weir_binding *bindings, uint64_t *recheck_ps,
                 weir_err *err)
{
    size_t i;
    (void)state;
    (void)bindings;
    (void)err;
    for (i = 0; i < phase->id.len; i++) {
        rates[i] = 1.0 + (double)phase->id.data[i];
    }
    if (phase->now_ps != 0) {
        *recheck_ps = phase->now_ps + 7;
    }
    return (int32_t)phase->id.data[0];
}

int32_t explain(void *, const weir_phase *, weir_emit_step, void *, weir_err *);
int32_t explain(void *state, const weir_phase *phase, weir_emit_step emit, void *sink, weir_err *err)
{
    static const char name[] = "first";
    weir_step step;
    (void)state;
    (void)err;
    memset(&step, 0, sizeof step); /* `because` is null: allowed where it is empty */
    step.link = WEIR_NONE;
    step.rate = STEP_RATE;
    step.step.data = (const uint8_t *)name;
    step.step.len = sizeof name - 1;
    if (phase->now_ps != 0) {
        emit(sink, &step);
    }
    return WEIR_OK;
}

#ifdef CAPACITY
int32_t capacity(void *, uint32_t, const weir_routes *, double *, weir_err *);
int32_t capacity(void *state, uint32_t link, const weir_routes *routes, double *most, weir_err *err)
{
    (void)state;
    (void)link;
    (void)routes;
    (void)most;
    (void)err;
    CAPACITY;
    return WEIR_OK;
}

#ifndef MEANING
#define MEANING "It is the first."
#endif
static const weir_legend_entry legend[] = {{"first", "the first", MEANING}, {NULL, NULL, NULL}};

static const weir_described_arbiter_table described = {
    {{MAGIC, MAJOR, MINOR, TABLE_SIZE, VIEW_SIZE, KIND, FLAGS}, NAME, VERSION, SCHEMA, CREATE, DESTROY, RESET, ADMIT,
     ALLOCATE, EXPLAIN},
    legend,
    capacity,
};
#define table described.arbiter
#else
static const weir_arbiter_table table = {
    {MAGIC, MAJOR, MINOR, TABLE_SIZE, VIEW_SIZE, KIND, FLAGS}, NAME, VERSION, SCHEMA, CREATE, DESTROY, RESET, ADMIT,
    ALLOCATE, EXPLAIN,
};
#endif

WEIR_EXPORT const weir_arbiter_table *ENTRY(uint32_t index);
WEIR_EXPORT const weir_arbiter_table *ENTRY(uint32_t index)
{
    (void)index;
    return TABLES;
}
