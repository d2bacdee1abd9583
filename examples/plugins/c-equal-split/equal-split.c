/* Example of a weir plugin in C: the rate arbiter `equal-split`.
 *
 * Definition: a link of bandwidth B on which n transfers are active offers each of them (1 - keep_free) * B / n. A
 * transfer's rate is the smallest offer along its route, or its limit if that is less.
 * Feasible: the offers of a link sum to (1 - keep_free) * B.
 * Ties and fairness: among equal offers the first link of the route is named as the binding. All transfers of a link are
 * offered the same; weights and priorities are ignored. What a transfer cannot use, nobody gets: not work-conserving.
 * Parameter: keep_free, the part of every link that stays unused, 0 <= keep_free < 1, 0 by default.
 */
#include "weir_plugin.h"

#include <stdlib.h>

typedef struct {
    size_t links;
    double *bandwidth; /* per link: what may be used of it, bytes per second */
    uint32_t *users;   /* per link: active transfers; all 0 between calls */
} equal_split;

static void destroy(void *state)
{
    equal_split *self = state;
    free(self->bandwidth);
    free(self->users);
    free(self);
}

/* The number behind "keep_free" in a JSON object of at most this one key, or 0 without it; -1 for anything else. The host
 * has checked the parameters against the schema, but a plugin that can say no should. */
static double keep_free_of(const char *params, size_t len)
{
    char text[256];
    const char *key;
    char *end;
    double value;
    if (len >= sizeof text) {
        return -1.0;
    }
    memcpy(text, params, len);
    text[len] = '\0';
    key = strstr(text, "\"keep_free\"");
    if (key == NULL) {
        return strchr(text, '"') == NULL ? 0.0 : -1.0;
    }
    key = strchr(key, ':');
    if (key == NULL) {
        return -1.0;
    }
    value = strtod(key + 1, &end);
    return end != key + 1 && value >= 0.0 && value < 1.0 ? value : -1.0;
}

static int32_t create(const weir_host *host, const weir_fabric *fabric, const char *params, size_t params_len,
                      void **state, weir_err *err)
{
    static const char greeting[] = "equal-split created";
    const double keep_free = keep_free_of(params, params_len);
    const size_t links = fabric->bandwidth.len;
    equal_split *self;
    size_t l;
    if (keep_free < 0.0) {
        return weir_fail(err, "equal-split takes one parameter, keep_free, a number from 0 to below 1");
    }
    self = calloc(1, sizeof *self);
    if (self == NULL) {
        return weir_fail(err, "equal-split: out of memory");
    }
    self->links = links;
    self->bandwidth = calloc(links + 1, sizeof *self->bandwidth); /* + 1: calloc(0) may be null */
    self->users = calloc(links + 1, sizeof *self->users);
    if (self->bandwidth == NULL || self->users == NULL) {
        destroy(self);
        return weir_fail(err, "equal-split: out of memory");
    }
    for (l = 0; l < links; l++) {
        self->bandwidth[l] = (1.0 - keep_free) * fabric->bandwidth.data[l];
    }
    host->log(host, 4, greeting, sizeof greeting - 1);
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

static void count_users(equal_split *self, const weir_phase *phase)
{
    size_t t, i;
    for (t = 0; t < phase->id.len; t++) {
        const weir_slice_u32 route = route_of(phase, t);
        for (i = 0; i < route.len; i++) {
            self->users[route.data[i]]++;
        }
    }
}

static void forget_users(equal_split *self, const weir_phase *phase)
{
    size_t t, i;
    for (t = 0; t < phase->id.len; t++) {
        const weir_slice_u32 route = route_of(phase, t);
        for (i = 0; i < route.len; i++) {
            self->users[route.data[i]] = 0;
        }
    }
}

static int32_t allocate(void *state, const weir_phase *phase, double *rates, weir_binding *bindings,
                        uint64_t *recheck_ps, weir_err *err)
{
    equal_split *self = state;
    size_t t, i;
    (void)recheck_ps; /* WEIR_NEVER already */
    (void)err;
    count_users(self, phase);
    for (t = 0; t < phase->id.len; t++) {
        const weir_slice_u32 route = route_of(phase, t);
        const double limit = phase->classes.limit.data[phase->class_id.data[t]];
        uint32_t narrowest = route.data[0];
        double rate = self->bandwidth[narrowest] / self->users[narrowest];
        for (i = 1; i < route.len; i++) {
            const double offer = self->bandwidth[route.data[i]] / self->users[route.data[i]];
            if (offer < rate) {
                narrowest = route.data[i];
                rate = offer;
            }
        }
        bindings[t].link = narrowest;
        bindings[t].cause = self->users[narrowest] > 1 ? WEIR_CAUSE_SHARED_LINK : WEIR_CAUSE_FULL_RATE;
        bindings[t].by = WEIR_NONE;
        if (limit < rate) {
            rate = limit;
            bindings[t].link = WEIR_NONE;
            bindings[t].cause = WEIR_CAUSE_OWN_LIMIT;
        }
        rates[t] = rate;
    }
    forget_users(self, phase);
    return WEIR_OK;
}

static const weir_arbiter_table table = {
    {WEIR_MAGIC, WEIR_ABI_MAJOR, WEIR_ABI_MINOR_ARBITER, sizeof(weir_arbiter_table), sizeof(weir_phase), WEIR_KIND_ARBITER,
     WEIR_PURE},
    "equal-split",
    "1.0.0",
    "{\"type\": \"object\","
    " \"properties\": {\"keep_free\": {\"type\": \"number\", \"minimum\": 0, \"exclusiveMaximum\": 1, \"default\": 0,"
    " \"description\": \"Part of every link's bandwidth that stays unused.\"}},"
    " \"additionalProperties\": false}",
    create,
    destroy,
    reset,
    admit,
    allocate,
    NULL,
};

const weir_arbiter_table *weir_arbiter(uint32_t index)
{
    return index == 0 ? &table : NULL;
}
