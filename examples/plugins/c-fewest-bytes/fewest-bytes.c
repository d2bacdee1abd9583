/* Example of a weir plugin in C: the port arbiter `fewest-bytes`.
 *
 * Definition: start-time fair queuing (Goyal, Vin, Cheng, Start-time Fair Queuing, SIGCOMM 1996) with equal weights. Each
 * requester of an output has a count of bytes, each output the count v at which it served last. Who asks has the count
 * max(own count, v); the least is served. Then v is that count, and the requester's count grows by the packet's bytes.
 * Ties: the lowest slot. Fairness: of those that always ask, none is ahead of another by more than the sum of their largest
 * packets; who was away starts at v, and catches up on nothing.
 * Parameters: none.
 */
#include "weir_plugin.h"

#include <stdlib.h>

/* An output: counts by slot, of those that were served. */
typedef struct {
    uint64_t served_at;
    uint64_t *counts;
    size_t slots;
} port;

typedef struct {
    size_t outs;
    port *ports;
} fewest_bytes;

static void destroy(void *state)
{
    fewest_bytes *self = state;
    size_t out;
    for (out = 0; out < self->outs; out++) {
        free(self->ports[out].counts);
    }
    free(self->ports);
    free(self);
}

static int32_t create(const weir_host *host, const weir_fabric *fabric, const char *params, size_t params_len,
                      void **state, weir_err *err)
{
    fewest_bytes *self = calloc(1, sizeof *self);
    (void)host;
    (void)params; /* the schema allows none */
    (void)params_len;
    if (self == NULL) {
        return weir_fail(err, "fewest-bytes: out of memory");
    }
    self->outs = fabric->from.len;
    self->ports = calloc(self->outs + 1, sizeof *self->ports); /* + 1: calloc(0) may be null */
    if (self->ports == NULL) {
        free(self);
        return weir_fail(err, "fewest-bytes: out of memory");
    }
    *state = self;
    return WEIR_OK;
}

static uint64_t count_of(const port *port, size_t slot)
{
    const uint64_t count = slot < port->slots ? port->counts[slot] : 0;
    return count > port->served_at ? count : port->served_at;
}

static int32_t choose(void *state, const weir_grant_view *view, uint32_t *slot, weir_err *err)
{
    const fewest_bytes *self = state;
    const port *port = &self->ports[view->out];
    uint64_t least = UINT64_MAX;
    uint64_t h;
    (void)err;
    for (h = 0; h < view->n_heads; h++) {
        const uint64_t count = count_of(port, view->heads[h].slot);
        if (count < least) {
            least = count;
            *slot = view->heads[h].slot;
        }
    }
    return WEIR_OK;
}

/* Makes room for the count of a slot; 0 where there is no memory. */
static int grow(port *port, size_t slots)
{
    uint64_t *counts;
    if (slots <= port->slots) {
        return 1;
    }
    counts = realloc(port->counts, slots * sizeof *counts);
    if (counts == NULL) {
        return 0;
    }
    memset(counts + port->slots, 0, (slots - port->slots) * sizeof *counts);
    port->counts = counts;
    port->slots = slots;
    return 1;
}

static int32_t commit(void *state, const weir_grant *grants, size_t n, weir_err *err)
{
    fewest_bytes *self = state;
    size_t i;
    for (i = 0; i < n; i++) {
        port *port = &self->ports[grants[i].out];
        const uint32_t slot = grants[i].slot;
        if (!grow(port, (size_t)slot + 1)) {
            return weir_fail(err, "fewest-bytes: out of memory");
        }
        port->served_at = count_of(port, slot);
        port->counts[slot] = port->served_at + grants[i].bytes;
    }
    return WEIR_OK;
}

/* How far each is ahead of v: the counts themselves only grow. */
static int32_t state_of(void *state, uint32_t out, uint64_t *to, size_t cap, size_t *n, weir_err *err)
{
    const fewest_bytes *self = state;
    const port *port = &self->ports[out];
    size_t slot;
    (void)err;
    if (port->slots > cap) {
        return WEIR_OK; /* *n stays: it cannot be told */
    }
    for (slot = 0; slot < port->slots; slot++) {
        to[slot] = count_of(port, slot) - port->served_at;
    }
    *n = port->slots;
    return WEIR_OK;
}

static const weir_port_arbiter_table table = {
    {WEIR_MAGIC, WEIR_ABI_MAJOR, WEIR_ABI_MINOR_PORT_ARBITER, sizeof(weir_port_arbiter_table), sizeof(weir_grant_view),
     WEIR_KIND_PORT_ARBITER, 0},
    "fewest-bytes",
    "1.0.0",
    "{\"type\": \"object\", \"additionalProperties\": false}",
    create,
    destroy,
    NULL,
    choose,
    commit,
    state_of,
    "who has been served the fewest bytes",
};

const weir_port_arbiter_table *weir_port_arbiter(uint32_t index)
{
    return index == 0 ? &table : NULL;
}
