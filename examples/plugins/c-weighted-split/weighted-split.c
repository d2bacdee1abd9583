/* Example of a weir plugin in C that describes itself: the rate arbiter `weighted-split`.
 *
 * Definition: a link of bandwidth B on which transfers of weight W in all are active offers B / W per unit of weight. A
 * transfer's rate is its weight times the smallest offer along its route, or its limit if that is less.
 * Feasible: the offers of a link sum to B.
 * Ties and fairness: among equal offers the first link of the route is named as the binding. Priorities are ignored. What a
 * transfer cannot use, nobody gets: not work-conserving.
 * Parameters: none.
 *
 * What it says of itself: it reads weights and no priorities, what its one step means, and that no link carries more than its
 * bandwidth, which closes the bounds of the search for the best order.
 */
#include "weir_plugin.h"

#include <stdlib.h>

typedef struct {
    size_t links;
    double *bandwidth; /* per link, bytes per second */
    double *weight;    /* per link: of the active transfers; all 0 between calls */
} weighted_split;

static void destroy(void *state)
{
    weighted_split *self = state;
    free(self->bandwidth);
    free(self->weight);
    free(self);
}

static int32_t create(const weir_host *host, const weir_fabric *fabric, const char *params, size_t params_len,
                      void **state, weir_err *err)
{
    weighted_split *self = calloc(1, sizeof *self);
    const size_t links = fabric->bandwidth.len;
    (void)host;
    (void)params; /* checked against the schema, which knows none */
    (void)params_len;
    if (self == NULL) {
        return weir_fail(err, "weighted-split: out of memory");
    }
    self->links = links;
    self->bandwidth = calloc(links + 1, sizeof *self->bandwidth); /* + 1: calloc(0) may be null */
    self->weight = calloc(links + 1, sizeof *self->weight);
    if (self->bandwidth == NULL || self->weight == NULL) {
        destroy(self);
        return weir_fail(err, "weighted-split: out of memory");
    }
    if (links > 0) {
        memcpy(self->bandwidth, fabric->bandwidth.data, links * sizeof *self->bandwidth);
    }
    *state = self;
    return WEIR_OK;
}

static int32_t reset(void *state, weir_err *err)
{
    (void)state; /* nothing is learnt from earlier calls */
    (void)err;
    return WEIR_OK;
}

static int32_t admit(void *state, const uint32_t *links, size_t len, weir_err *err)
{
    (void)state; /* defined for every route */
    (void)links;
    (void)len;
    (void)err;
    return WEIR_OK;
}

static weir_slice_u32 route_of(const weir_phase *phase, size_t transfer)
{
    const uint32_t route = phase->classes.route.data[phase->class_id.data[transfer]];
    const uint64_t first = phase->routes.offsets.data[route];
    const uint64_t end = phase->routes.offsets.data[route + 1];
    weir_slice_u32 links;
    links.data = phase->routes.links.data + first;
    links.len = (size_t)(end - first);
    return links;
}

static void add_weights(weighted_split *self, const weir_phase *phase, int forget)
{
    size_t t, i;
    for (t = 0; t < phase->id.len; t++) {
        const weir_slice_u32 route = route_of(phase, t);
        const double weight = phase->classes.weight.data[phase->class_id.data[t]];
        for (i = 0; i < route.len; i++) {
            self->weight[route.data[i]] = forget ? 0.0 : self->weight[route.data[i]] + weight;
        }
    }
}

/* The link of the smallest offer along a route, the first of equals. */
static uint32_t narrowest_of(const weighted_split *self, weir_slice_u32 route)
{
    uint32_t narrowest = route.data[0];
    double offer = self->bandwidth[narrowest] / self->weight[narrowest];
    size_t i;
    for (i = 1; i < route.len; i++) {
        const double other = self->bandwidth[route.data[i]] / self->weight[route.data[i]];
        if (other < offer) {
            narrowest = route.data[i];
            offer = other;
        }
    }
    return narrowest;
}

static int32_t allocate(void *state, const weir_phase *phase, double *rates, weir_binding *bindings,
                        uint64_t *recheck_ps, weir_err *err)
{
    weighted_split *self = state;
    size_t t;
    (void)recheck_ps; /* WEIR_NEVER already */
    (void)err;
    add_weights(self, phase, 0);
    for (t = 0; t < phase->id.len; t++) {
        const double weight = phase->classes.weight.data[phase->class_id.data[t]];
        const double limit = phase->classes.limit.data[phase->class_id.data[t]];
        const uint32_t narrowest = narrowest_of(self, route_of(phase, t));
        bindings[t].link = narrowest;
        bindings[t].cause = self->weight[narrowest] > weight ? WEIR_CAUSE_SHARED_LINK : WEIR_CAUSE_FULL_RATE;
        rates[t] = weight * (self->bandwidth[narrowest] / self->weight[narrowest]);
        if (limit < rates[t]) {
            rates[t] = limit;
            bindings[t].link = WEIR_NONE;
            bindings[t].cause = WEIR_CAUSE_OWN_LIMIT;
        }
    }
    add_weights(self, phase, 1);
    return WEIR_OK;
}

static int32_t explain(void *state, const weir_phase *phase, weir_emit_step emit, void *sink, weir_err *err)
{
    weighted_split *self = state;
    size_t t;
    (void)err;
    add_weights(self, phase, 0);
    for (t = 0; t < phase->id.len; t++) {
        const double weight = phase->classes.weight.data[phase->class_id.data[t]];
        weir_step step;
        memset(&step, 0, sizeof step);
        step.transfer = (uint32_t)t;
        step.link = narrowest_of(self, route_of(phase, t));
        step.rate = weight * self->bandwidth[step.link] / self->weight[step.link];
        step.step = weir_text("share");
        emit(sink, &step);
    }
    add_weights(self, phase, 1);
    return WEIR_OK;
}

static int32_t capacity(void *state, uint32_t link, const weir_routes *routes, double *most, weir_err *err)
{
    weighted_split *self = state;
    (void)routes; /* whoever is active */
    (void)err;
    *most = self->bandwidth[link];
    return WEIR_OK;
}

static const weir_legend_entry legend[] = {
    {"share", "link shared by weight", "Each unit of weight on a link has an equal part of it; the least such part on the route counts."},
    {NULL, NULL, NULL},
};

static const weir_described_arbiter_table table = {
    {
        {WEIR_MAGIC, WEIR_ABI_MAJOR, WEIR_ABI_MINOR_DESCRIBED_ARBITER, sizeof(weir_described_arbiter_table),
         sizeof(weir_phase), WEIR_KIND_ARBITER, WEIR_PURE | WEIR_READS_WEIGHT},
        "weighted-split",
        "1.1.0",
        "{\"type\": \"object\", \"additionalProperties\": false}",
        create,
        destroy,
        reset,
        admit,
        allocate,
        explain,
    },
    legend,
    capacity,
};

const weir_arbiter_table *weir_arbiter(uint32_t index)
{
    return index == 0 ? &table.arbiter : NULL;
}
