/* Example of a weir plugin in C with an incremental side: the rate arbiter `weighted-split`.
 *
 * Definition: a link of bandwidth B on which transfers of weight W in all are active offers B / W per unit of weight. A
 * transfer's rate is its weight times the smallest offer along its route, or its limit if that is less.
 * Feasible: the offers of a link sum to B.
 * Ties and fairness: among equal offers the first link of the route is named as the binding. Priorities are ignored. What a
 * transfer cannot use, nobody gets: not work-conserving.
 * Parameters: none.
 *
 * In changes: a transfer that comes or goes changes the offers of the links of its route, and so the levels of the classes that
 * cross these. Each class is a group and a root of its own.
 */
#include "weir_plugin.h"

#include <stdlib.h>

/* ---- A list that grows ---- */

typedef struct {
    uint32_t *data;
    size_t len, capacity;
} list;

static int push(list *self, uint32_t value)
{
    if (self->len == self->capacity) {
        const size_t capacity = self->capacity == 0 ? 4 : 2 * self->capacity;
        uint32_t *data = realloc(self->data, capacity * sizeof *data);
        if (data == NULL) {
            return 0;
        }
        self->data = data;
        self->capacity = capacity;
    }
    self->data[self->len++] = value;
    return 1;
}

/* ---- Phase by phase ---- */

typedef struct {
    size_t links;
    double *bandwidth; /* per link, bytes per second */
    double *weight;    /* per link: of the active transfers; all 0 between calls */
} plain;

static void plain_destroy(void *state)
{
    plain *self = state;
    free(self->bandwidth);
    free(self->weight);
    free(self);
}

static int32_t plain_create(const weir_host *host, const weir_fabric *fabric, const char *params, size_t params_len,
                            void **state, weir_err *err)
{
    plain *self = calloc(1, sizeof *self);
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
        plain_destroy(self);
        return weir_fail(err, "weighted-split: out of memory");
    }
    if (links > 0) {
        memcpy(self->bandwidth, fabric->bandwidth.data, links * sizeof *self->bandwidth);
    }
    *state = self;
    return WEIR_OK;
}

static int32_t plain_reset(void *state, weir_err *err)
{
    (void)state; /* nothing is learnt from earlier calls */
    (void)err;
    return WEIR_OK;
}

static int32_t plain_admit(void *state, const uint32_t *links, size_t len, weir_err *err)
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

static void add_weights(plain *self, const weir_phase *phase, int forget)
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

static int32_t plain_allocate(void *state, const weir_phase *phase, double *rates, weir_binding *bindings,
                              uint64_t *recheck_ps, weir_err *err)
{
    plain *self = state;
    size_t t, i;
    (void)recheck_ps; /* WEIR_NEVER already */
    (void)err;
    add_weights(self, phase, 0);
    for (t = 0; t < phase->id.len; t++) {
        const weir_slice_u32 route = route_of(phase, t);
        const double weight = phase->classes.weight.data[phase->class_id.data[t]];
        const double limit = phase->classes.limit.data[phase->class_id.data[t]];
        uint32_t narrowest = route.data[0];
        double offer = self->bandwidth[narrowest] / self->weight[narrowest];
        for (i = 1; i < route.len; i++) {
            const double other = self->bandwidth[route.data[i]] / self->weight[route.data[i]];
            if (other < offer) {
                narrowest = route.data[i];
                offer = other;
            }
        }
        bindings[t].link = narrowest;
        bindings[t].cause = self->weight[narrowest] > weight ? WEIR_CAUSE_SHARED_LINK : WEIR_CAUSE_FULL_RATE;
        rates[t] = weight * offer;
        if (limit < rates[t]) {
            rates[t] = limit;
            bindings[t].link = WEIR_NONE;
            bindings[t].cause = WEIR_CAUSE_OWN_LIMIT;
        }
    }
    add_weights(self, phase, 1);
    return WEIR_OK;
}

/* ---- In changes ---- */

typedef struct {
    uint64_t capacity;
    uint64_t weight;
    list classes; /* that cross it */
    int changed;  /* in this call */
} link_state;

typedef struct {
    list links;
    uint64_t limit;
    uint64_t weight;
    uint64_t level; /* as the host knows it */
    uint32_t group; /* and root; WEIR_NONE before it has had weight */
    int placed;     /* whether the host has it in its group */
} class_state;

typedef struct {
    link_state *links;
    size_t link_count;
    class_state *classes;
    size_t class_count, class_capacity;
    uint32_t *class_of; /* per root */
    uint32_t roots;
    list changed; /* links whose weight has changed in this call */
    weir_group_move *groups;
    weir_class_move *moves;
    weir_root_level *levels; /* each with room for all classes */
} changes;

static void changes_destroy(void *state)
{
    changes *self = state;
    size_t i;
    for (i = 0; self->links != NULL && i < self->link_count; i++) {
        free(self->links[i].classes.data);
    }
    for (i = 0; i < self->class_count; i++) {
        free(self->classes[i].links.data);
    }
    free(self->links);
    free(self->classes);
    free(self->class_of);
    free(self->changed.data);
    free(self->groups);
    free(self->moves);
    free(self->levels);
    free(self);
}

/* Makes room for so many classes; the memory of the last answer may move, which it may between two calls. */
static int reserve(changes *self, size_t capacity)
{
    void *classes = realloc(self->classes, capacity * sizeof *self->classes);
    void *class_of, *groups, *moves, *levels;
    self->classes = classes == NULL ? self->classes : classes;
    class_of = realloc(self->class_of, capacity * sizeof *self->class_of);
    self->class_of = class_of == NULL ? self->class_of : class_of;
    groups = realloc(self->groups, capacity * sizeof *self->groups);
    self->groups = groups == NULL ? self->groups : groups;
    moves = realloc(self->moves, capacity * sizeof *self->moves);
    self->moves = moves == NULL ? self->moves : moves;
    levels = realloc(self->levels, capacity * sizeof *self->levels);
    self->levels = levels == NULL ? self->levels : levels;
    if (classes == NULL || class_of == NULL || groups == NULL || moves == NULL || levels == NULL) {
        return 0;
    }
    self->class_capacity = capacity;
    return 1;
}

static int32_t changes_create(const weir_host *host, const weir_setting *setting, const char *params, size_t params_len,
                              void **state, weir_err *err)
{
    changes *self = calloc(1, sizeof *self);
    size_t l;
    (void)host;
    (void)params;
    (void)params_len;
    if (self == NULL) {
        return weir_fail(err, "weighted-split: out of memory");
    }
    self->link_count = setting->capacities.len;
    self->links = calloc(self->link_count + 1, sizeof *self->links);
    if (self->links == NULL || !reserve(self, (size_t)setting->classes + 1)) {
        changes_destroy(self);
        return weir_fail(err, "weighted-split: out of memory");
    }
    for (l = 0; l < self->link_count; l++) {
        self->links[l].capacity = setting->capacities.data[l];
    }
    *state = self;
    return WEIR_OK;
}

static int32_t changes_add_class(void *state, uint32_t id, const weir_class_info *info, weir_err *err)
{
    changes *self = state;
    class_state *class;
    size_t i;
    if (id == self->class_count) {
        if (self->class_count == self->class_capacity && !reserve(self, 2 * self->class_capacity)) {
            return weir_fail(err, "weighted-split: out of memory");
        }
        memset(&self->classes[id], 0, sizeof *self->classes);
        self->classes[id].group = WEIR_NONE;
        self->class_count++;
    }
    /* An id that is used again keeps its group, which the host knows already. */
    class = &self->classes[id];
    class->links.len = 0;
    class->limit = info->limit;
    class->level = WEIR_NO_LEVEL;
    class->placed = 0;
    for (i = 0; i < info->links.len; i++) {
        const uint32_t link = info->links.data[i];
        if (!push(&class->links, link) || !push(&self->links[link].classes, id)) {
            return weir_fail(err, "weighted-split: out of memory");
        }
    }
    return WEIR_OK;
}

/* Takes a class that is forgotten off the lists of its links. */
static void unlist(changes *self, uint32_t id)
{
    const class_state *class = &self->classes[id];
    size_t i, at;
    for (i = 0; i < class->links.len; i++) {
        list *all = &self->links[class->links.data[i]].classes;
        for (at = 0; all->data[at] != id; at++) {
        }
        all->data[at] = all->data[--all->len];
    }
}

/* Takes the weights of a change in, and notes the links. */
static int weigh(changes *self, weir_slice_weight_change entries, int added)
{
    size_t e, i;
    for (e = 0; e < entries.len; e++) {
        class_state *class = &self->classes[entries.data[e].class_id];
        const uint64_t weight = entries.data[e].weight;
        class->weight = added ? class->weight + weight : class->weight - weight;
        for (i = 0; i < class->links.len; i++) {
            link_state *link = &self->links[class->links.data[i]];
            link->weight = added ? link->weight + weight : link->weight - weight;
            if (!link->changed) {
                link->changed = 1;
                if (!push(&self->changed, class->links.data[i])) {
                    return 0;
                }
            }
        }
        if (class->weight == 0) {
            unlist(self, entries.data[e].class_id);
        }
    }
    return 1;
}

/* The level of a class, and the link that sets it. */
static weir_root_level level_of(const changes *self, const class_state *class)
{
    weir_root_level best;
    size_t i;
    best.root = class->group;
    best.link = WEIR_NONE;
    best.level = class->limit;
    for (i = class->links.len; i-- > 0;) { /* backwards: the first link wins among equals */
        const link_state *link = &self->links[class->links.data[i]];
        const uint64_t offer = link->capacity / link->weight;
        if (offer <= best.level) {
            best.link = class->links.data[i];
            best.level = offer;
        }
    }
    return best;
}

static void tell(changes *self, uint32_t id, weir_answer *answer)
{
    class_state *class = &self->classes[id];
    weir_root_level level;
    if (class->group == WEIR_NONE) {
        weir_group_move *move = &self->groups[answer->groups.len++];
        class->group = self->roots++;
        self->class_of[class->group] = id;
        move->group = class->group;
        move->root = class->group;
    }
    if (!class->placed) {
        weir_class_move *move = &self->moves[answer->classes.len++];
        class->placed = 1;
        move->class_id = id;
        move->group = class->group;
    }
    level = level_of(self, class);
    if (level.level != class->level) {
        class->level = level.level;
        self->levels[answer->levels.len++] = level;
    }
}

static int32_t changes_settle(void *state, const weir_change *change, weir_answer *answer, weir_err *err)
{
    changes *self = state;
    size_t l, c;
    if (!weigh(self, change->removed, 0) || !weigh(self, change->added, 1)) {
        return weir_fail(err, "weighted-split: out of memory");
    }
    answer->groups.data = self->groups;
    answer->classes.data = self->moves;
    answer->levels.data = self->levels;
    for (l = 0; l < self->changed.len; l++) {
        link_state *link = &self->links[self->changed.data[l]];
        link->changed = 0;
        for (c = 0; c < link->classes.len; c++) {
            tell(self, link->classes.data[c], answer);
        }
    }
    self->changed.len = 0;
    return WEIR_OK;
}

static int32_t changes_beside(void *state, uint32_t root, uint32_t *class_id, weir_err *err)
{
    const changes *self = state;
    const uint32_t mine = *class_id;
    const weir_root_level level = level_of(self, &self->classes[self->class_of[root]]);
    size_t c;
    (void)err;
    *class_id = WEIR_NONE;
    if (level.link == WEIR_NONE) {
        return WEIR_OK;
    }
    for (c = 0; c < self->links[level.link].classes.len; c++) {
        const uint32_t other = self->links[level.link].classes.data[c];
        if (other != mine) {
            *class_id = other;
            return WEIR_OK;
        }
    }
    return WEIR_OK;
}

/* ---- Tables ---- */

static const char name[] = "weighted-split";
static const char version[] = "1.0.0";

static const weir_arbiter_table table = {
    {WEIR_MAGIC, WEIR_ABI_MAJOR, WEIR_ABI_MINOR_ARBITER, sizeof(weir_arbiter_table), sizeof(weir_phase), WEIR_KIND_ARBITER,
     WEIR_PURE},
    name,
    version,
    "{\"type\": \"object\", \"additionalProperties\": false}",
    plain_create,
    plain_destroy,
    plain_reset,
    plain_admit,
    plain_allocate,
    NULL,
};

static const weir_incremental_table side = {
    {WEIR_MAGIC, WEIR_ABI_MAJOR, WEIR_ABI_MINOR_INCREMENTAL, sizeof(weir_incremental_table), sizeof(weir_answer),
     WEIR_KIND_INCREMENTAL, 0},
    name,
    version,
    changes_create,
    changes_destroy,
    changes_add_class,
    changes_settle,
    NULL, /* nobody is served before others */
    changes_beside,
    NULL, /* peaks are not kept */
};

const weir_arbiter_table *weir_arbiter(uint32_t index)
{
    return index == 0 ? &table : NULL;
}

const weir_incremental_table *weir_incremental(uint32_t index)
{
    return index == 0 ? &side : NULL;
}
