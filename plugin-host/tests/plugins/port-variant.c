/* A port arbiter whose table is right unless a macro makes it wrong, and whose functions do what a macro says first. */
#include "weir_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef MAGIC
#define MAGIC WEIR_MAGIC
#endif
#ifndef MINOR
#define MINOR WEIR_ABI_MINOR_PORT_ARBITER
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(weir_port_arbiter_table)
#endif
#ifndef VIEW_SIZE
#define VIEW_SIZE sizeof(weir_grant_view)
#endif
#ifndef KIND
#define KIND WEIR_KIND_PORT_ARBITER
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef NAME
#define NAME "variant"
#endif
#ifndef SCHEMA
#define SCHEMA "{\"type\": \"object\"}"
#endif
#ifndef DESCRIPTION
#define DESCRIPTION "the first one"
#endif
#ifndef CREATE
#define CREATE create
#endif
#ifndef DESTROY
#define DESTROY destroy
#endif
#ifndef CHOOSE
#define CHOOSE choose
#endif
#ifndef COMMIT
#define COMMIT commit
#endif
#ifndef STATE
#define STATE state_of
#endif
#ifndef TABLES
#define TABLES (index == 0 ? &table : NULL)
#endif
/* Statements at the begin of a function. */
#ifndef IN_CREATE
#define IN_CREATE
#endif
#ifndef IN_DESTROY
#define IN_DESTROY
#endif
#ifndef IN_CHOOSE
#define IN_CHOOSE
#endif
#ifndef IN_COMMIT
#define IN_COMMIT
#endif
#ifndef IN_STATE
#define IN_STATE
#endif

/* Never returns, which the compiler must not know. */
void forever(void);
void forever(void)
{
    for (;;) {
        usleep(1000);
    }
}

static int32_t create(const weir_host *host, const weir_fabric *fabric, const char *params, size_t params_len,
                      void **state, weir_err *err)
{
    static int nothing;
    (void)host;
    (void)fabric;
    (void)params;
    (void)params_len;
    (void)err;
    IN_CREATE;
    *state = &nothing;
    return WEIR_OK;
}

static void destroy(void *state)
{
    (void)state;
    IN_DESTROY;
}

static int32_t choose(void *state, const weir_grant_view *view, uint32_t *slot, weir_err *err)
{
    static uint64_t calls;
    (void)state;
    (void)err;
    calls++;
    *slot = view->heads[0].slot;
    IN_CHOOSE;
    return WEIR_OK;
}

static int32_t commit(void *state, const weir_grant *grants, size_t n, weir_err *err)
{
    (void)state;
    (void)grants;
    (void)n;
    (void)err;
    IN_COMMIT;
    return WEIR_OK;
}

static int32_t state_of(void *state, uint32_t out, uint64_t *to, size_t cap, size_t *n, weir_err *err)
{
    (void)state;
    (void)out;
    (void)to;
    (void)cap;
    (void)err;
    *n = 0;
    IN_STATE;
    return WEIR_OK;
}

static const weir_port_arbiter_table table = {
    {MAGIC, WEIR_ABI_MAJOR, MINOR, TABLE_SIZE, VIEW_SIZE, KIND, FLAGS},
    NAME,
    "1.0.0",
    SCHEMA,
    CREATE,
    DESTROY,
    NULL,
    CHOOSE,
    COMMIT,
    STATE,
    DESCRIPTION,
};

/* Functions that a macro replaces are used nonetheless. */
const void *used(void);
const void *used(void)
{
    static int32_t (*const all)(void *, const weir_grant_view *, uint32_t *, weir_err *) = choose;
    (void)create;
    (void)destroy;
    (void)commit;
    (void)state_of;
    return (const void *)&all;
}

const weir_port_arbiter_table *weir_port_arbiter(uint32_t index)
{
    return TABLES;
}
