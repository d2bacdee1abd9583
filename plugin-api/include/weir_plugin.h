/* weir plugins, ABI 1: write a rate arbiter, a port arbiter or a model in C, C++, Zig or anything that speaks C.
 *
 * A rate arbiter divides the bandwidth of a fabric of links among the transfers that are active at one moment (a phase).
 * A port arbiter chooses which packet an output sends next, of those that ask for it.
 * A model turns one operation of the workload into tasks for the simulation, and may give a closed form of its time.
 * A library lists its arbiters through one function, `weir_arbiter`, its port arbiters through `weir_port_arbiter`, and its
 * models through `weir_model`; it exports at least one of them. docs/plugin-abi.md explains the rules at length;
 * examples/plugins/c-equal-split is a complete arbiter, examples/plugins/c-fewest-bytes a complete port arbiter,
 * examples/plugins/c-delay a complete model. Build with
 *
 *     cc -shared -fPIC -O2 -ffp-contract=off -I plugin-api/include -o libmine.so mine.c
 *
 * and never with -ffast-math: results must have the same bits on every machine.
 *
 * Rules for every function of a table:
 *   - It returns 0 (ok), 1 (error: a text for a person stands in `err`) or 2 (a caught panic or the like: the instance is
 *     never called again, except destroy). Exceptions and longjmp must not leave it.
 *   - Memory stays on its side: the host never frees what a plugin allocated, nor the other way round. Views and what they
 *     point to are borrowed for the call; copy what is needed later.
 *   - One thread at a time calls an instance, but it may be another thread each time; instances run in parallel, so no
 *     writable globals. No input or output, no clock, no randomness.
 *
 * Within a major version: the header stays as it is, tables and structures grow only at their ends, and the numbers below
 * keep their meaning. Minor 0 has arbiters, minor 1 models too, minor 3 arbiters that describe themselves, minor 6 port
 * arbiters. (Minor 2 had incremental arbiters, which hosts no longer look for.)
 */
#ifndef WEIR_PLUGIN_H
#define WEIR_PLUGIN_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_MAGIC UINT64_C(0x47554c5052494557) /* "WEIRPLUG", read as a little-endian number */
#define WEIR_ABI_MAJOR 1u
#define WEIR_ABI_MINOR 6u /* of this header */
/* What a table says: the first minor version that has all it uses, so that older hosts load it. */
#define WEIR_ABI_MINOR_ARBITER 0u
#define WEIR_ABI_MINOR_MODEL 1u
#define WEIR_ABI_MINOR_DESCRIBED_ARBITER 3u
#define WEIR_ABI_MINOR_PCIE_ARBITER 4u /* one with WEIR_FOR_PCIE */
#define WEIR_ABI_MINOR_CUT_ANYWHERE_ARBITER 5u /* one with WEIR_CUT_ANYWHERE */
#define WEIR_ABI_MINOR_PORT_ARBITER 6u

/* Kinds of table. */
#define WEIR_KIND_ARBITER 1u
#define WEIR_KIND_MODEL 2u
#define WEIR_KIND_PORT_ARBITER 4u

/* Flags of an arbiter: claims that the host relies on. Any other bit is refused. A port arbiter has WEIR_READS_ARRIVAL (it
 * reads ready_ps or visible_ps), WEIR_READS_WEIGHT and WEIR_READS_PRIORITY alone. */
#define WEIR_PURE 1u            /* the answer depends only on fabric, parameters and the classes shown, not on time, ids or
                                   earlier calls: the host may remember it */
#define WEIR_WORK_CONSERVING 2u /* no link that could raise a transfer is left idle */
#define WEIR_WHOLE_SET 4u       /* must be shown all active transfers, not only those connected to a change */
#define WEIR_READS_ARRIVAL 8u   /* reads `arrival`, by rank only */
/* The next four are for weir_described_arbiter_table alone. */
#define WEIR_READS_WEIGHT 16u   /* reads `weight` */
#define WEIR_READS_PRIORITY 32u /* reads `priority` */
#define WEIR_FOR_PCIE 64u       /* made for PCIe links: warns where it rules host memory, NVLink or a network */
#define WEIR_CUT_ANYWHERE 128u  /* cut into regions, it gives the rates that it gives as a whole */

/* What a call returns. */
#define WEIR_OK 0
#define WEIR_ERROR 1
#define WEIR_PANIC 2

/* No link, no transfer, no engine. */
#define WEIR_NONE UINT32_MAX
/* Value of *recheck_ps: no further call needed. */
#define WEIR_NEVER UINT64_MAX

/* Why a transfer has its rate. */
enum weir_cause {
    WEIR_CAUSE_UNKNOWN = 0,      /* not said: the host names the most loaded link of the route */
    WEIR_CAUSE_FULL_RATE = 1,    /* the full rate of the narrowest link of its route */
    WEIR_CAUSE_OWN_LIMIT = 2,    /* its own limit */
    WEIR_CAUSE_SHARED_LINK = 3,  /* its share of a link that others use too */
    WEIR_CAUSE_UPSTREAM = 4,     /* a proportional cut at a contended upstream or lateral port */
    WEIR_CAUSE_DOWNSTREAM = 5,   /* its group's quota at a contended downstream port */
    WEIR_CAUSE_ROOT_COMPLEX = 6, /* the reduced capacity of the root complex's port */
    WEIR_CAUSE_HEAD_OF_LINE = 7, /* blocking behind a transfer that is cut further on */
    WEIR_CAUSE_WAITING = 8,      /* another transfer is served first, by order of arrival */
    WEIR_CAUSE_PRIORITY = 9,     /* a transfer of higher priority is served first */
    WEIR_CAUSE_CREDIT = 10,      /* no room in a buffer: of runs of packets, not for arbiters of rates */
    WEIR_CAUSE_WINDOW = 11,      /* as many packets under way as the window allows: of runs of packets, too */
    WEIR_CAUSE_LINK_DOWN = 12,   /* a link is down: the host says so, not arbiters */
    WEIR_CAUSE_LINK_REDUCED = 13, /* the full rate of a link that carries less for a while: the host says so, too */
    WEIR_CAUSE_TAGS = 14,        /* all tags of a read in use: of runs of packets */
    WEIR_CAUSE_DLLP = 15         /* the link sends acknowledgements and credit (DLLPs): of runs of packets */
};

/* Where a directed link leads. */
enum weir_direction { WEIR_UP = 0, WEIR_DOWN = 1, WEIR_LATERAL = 2 };

/* Kinds of node: the first four forward, the others only start or end transfers. */
enum weir_node_kind {
    WEIR_SWITCH = 0,
    WEIR_ROOT_COMPLEX = 1,
    WEIR_NETWORK = 2,
    WEIR_NIC = 3,
    WEIR_GPU = 4,
    WEIR_FPGA = 5,
    WEIR_CPU = 6,
    WEIR_HOST_NODE = 7
};

/* Kinds of link that have a number. */
#define WEIR_LINK_PCIE 0u
#define WEIR_LINK_QPI 1u
#define WEIR_LINK_NVLINK 2u
#define WEIR_LINK_NETWORK 3u
#define WEIR_LINK_MEMORY 4u
#define WEIR_LINK_OTHER UINT32_MAX

/* Slices: `data` is never null, and is not to be read when `len` is 0. */
typedef struct { const uint8_t *data; size_t len; } weir_slice_u8;
typedef struct { const uint32_t *data; size_t len; } weir_slice_u32;
typedef struct { const uint64_t *data; size_t len; } weir_slice_u64;
typedef struct { const int64_t *data; size_t len; } weir_slice_i64;
typedef struct { const double *data; size_t len; } weir_slice_f64;

/* The fabric, shown to create. Links are directed: each cable is two of them. Ids are positions in these slices. */
typedef struct {
    weir_slice_f64 bandwidth; /* per link: bytes per second, finite and > 0 */
    weir_slice_u32 from;      /* per link: the node it leaves */
    weir_slice_u32 to;        /* per link: the node it enters */
    weir_slice_u8 direction;  /* per link: enum weir_direction */
    weir_slice_u32 depth;     /* per link: depth of a tree link's lower node, of the node a lateral link leaves */
    weir_slice_u32 kind;      /* per link: WEIR_LINK_... */
    weir_slice_u8 node_kind;  /* per node: enum weir_node_kind */
} weir_fabric;

/* Attributes per class. Transfers of one class differ only in id, arrival and progress. Grows during a run; ids stay. */
typedef struct {
    weir_slice_u32 route;    /* per class: its route */
    weir_slice_f64 limit;    /* per class: largest allowed rate in bytes per second; infinite where none is set */
    weir_slice_f64 weight;   /* per class: finite and > 0, 1 by default */
    weir_slice_i64 priority; /* per class: larger is served first, 0 by default */
} weir_classes;

/* Routes as compressed rows: route r is links.data[offsets.data[r] .. offsets.data[r + 1]], in order of travel, never
 * empty. Grows during a run; ids stay. */
typedef struct {
    weir_slice_u64 offsets; /* one more than there are routes */
    weir_slice_u32 links;
} weir_routes;

/* The active transfers of one moment, in id order. */
typedef struct {
    uint64_t now_ps;
    weir_slice_u32 id;         /* per transfer: its id, ascending */
    weir_slice_u32 class_id;   /* per transfer: its class, a position in `classes` */
    weir_slice_u64 arrival_ps; /* per transfer: when it began to wait for rates; rank by (arrival_ps, id) */
    weir_classes classes;
    weir_routes routes;
} weir_phase;

/* What binds a rate: a link of the transfer's route (or WEIR_NONE), an enum weir_cause, and the position in the phase
 * of a transfer that is responsible (or WEIR_NONE). */
typedef struct {
    uint32_t link;
    uint32_t cause;
    uint32_t by;
} weir_binding;

/* The host's buffer for the text of an error: UTF-8, one line; at most `capacity` bytes, their number in `len`. */
typedef struct {
    char *data;
    size_t capacity;
    size_t len;
} weir_err;

/* What the host offers an instance; valid until its destroy returns. */
typedef struct weir_host weir_host;
struct weir_host {
    void *context; /* the host's own */
    /* A line for the host's log: level 1 error, 2 warning, 3 information, 4 debug; UTF-8 of `len` bytes. */
    void (*log)(const weir_host *host, uint32_t level, const char *text, size_t len);
    /* Not 0 once the run has been interrupted: a long call should then end with an error. */
    int32_t (*cancelled)(const weir_host *host);
};

/* One line of an explanation: a transfer's rate after a step of the policy. */
typedef struct {
    uint32_t transfer;      /* position in the phase */
    uint32_t link;          /* the link that decided, or WEIR_NONE */
    double rate;            /* after the step, bytes per second */
    weir_slice_u8 step;     /* name of the step, UTF-8, short: a column of the printed table */
    weir_slice_u32 because; /* positions in the phase of the transfers responsible */
} weir_step;

typedef void (*weir_emit_step)(void *sink, const weir_step *step);

/* The first 32 bytes of every table. */
typedef struct {
    uint64_t magic;      /* WEIR_MAGIC */
    uint32_t abi_major;  /* WEIR_ABI_MAJOR: must equal the host's */
    uint32_t abi_minor;  /* WEIR_ABI_MINOR_ARBITER, ..._DESCRIBED_ARBITER, ..._PORT_ARBITER or ..._MODEL */
    uint32_t table_size; /* of weir_arbiter_table, weir_described_arbiter_table, ..._port_arbiter_table or ..._model_table */
    uint32_t view_size;  /* sizeof(weir_phase), of a port arbiter sizeof(weir_grant_view), of a model sizeof(weir_task) */
    uint32_t kind;       /* WEIR_KIND_ARBITER, WEIR_KIND_PORT_ARBITER or WEIR_KIND_MODEL */
    uint32_t flags;      /* of an arbiter or port arbiter, see above; 0 for a model */
} weir_header;

/* ---- Rate arbiters ---- */

typedef struct {
    weir_header header;
    const char *name;          /* in scenarios: lower-case words joined by '-'; NUL-terminated UTF-8 and static, */
    const char *version;       /* as is the version, shown in results, */
    const char *params_schema; /* and the JSON Schema (an object) of the parameters */

    /* Builds an instance. `params` is a JSON object, `params_len` bytes, that fits the schema, with numbers in bytes,
     * bytes per second and ps; not NUL-terminated. Writes *state (which may be null) only when it returns 0. */
    int32_t (*create)(const weir_host *host, const weir_fabric *fabric, const char *params, size_t params_len,
                      void **state, weir_err *err);

    /* Frees an instance; called once for each create that returned 0, even after a panic. */
    void (*destroy)(void *state);

    /* Forgets everything learnt from earlier calls. */
    int32_t (*reset)(void *state, weir_err *err);

    /* Whether transfers may use a route; asked once per distinct route before the run. 1 refuses: the text says why. */
    int32_t (*admit)(void *state, const uint32_t *links, size_t len, weir_err *err);

    /* Gives a rate in bytes per second to each transfer of the phase: finite, >= 0, at most its limit, and on each link
     * summing to at most the bandwidth; the host checks and refuses, never repairs. Every slot of `rates` must be
     * written, those of `bindings` may be left. *recheck_ps is WEIR_NEVER; an earlier instant asks to be called again
     * then even if nothing changes. */
    int32_t (*allocate)(void *state, const weir_phase *phase, double *rates, weir_binding *bindings,
                        uint64_t *recheck_ps, weir_err *err);

    /* Emits the steps by which allocate reaches its rates, transfer by transfer in phase order. May be null; emitting
     * nothing means the same. */
    int32_t (*explain)(void *state, const weir_phase *phase, weir_emit_step emit, void *sink, weir_err *err);
} weir_arbiter_table;

/* What a step of an explanation means. Texts are NUL-terminated UTF-8 and static. */
typedef struct {
    const char *step;       /* its name, as explain emits it; NULL in the entry that ends a legend */
    const char *short_text; /* in a few words that can stand for the name */
    const char *meaning;    /* what it does, in one plain sentence */
} weir_legend_entry;

/* An arbiter that describes itself: say WEIR_ABI_MINOR_DESCRIBED_ARBITER and the size of this structure in the header of
 * `arbiter`, and return &mine.arbiter from weir_arbiter. The flags then say which attributes it reads: a scenario that sets
 * others is warned about. */
typedef struct {
    weir_arbiter_table arbiter;

    /* What its steps mean, in the order in which they are taken, ended by an entry of NULLs. May be null. */
    const weir_legend_entry *legend;

    /* The most that `link` can carry in total, in bytes per second, at any moment when a transfer of each of these routes is
     * active, whatever else is. *most is INFINITY, which promises nothing but what the check of every answer demands. The
     * search for the best order proves with it: too low a bound makes its proofs wrong. May be null. */
    int32_t (*capacity)(void *state, uint32_t link, const weir_routes *routes, double *most, weir_err *err);
} weir_described_arbiter_table;

/* ---- Port arbiters ---- */

/* A packet that asks for an output. Requesters of an output are numbered by channel, then link id of the input, then
 * engine: that number is the slot. */
typedef struct {
    uint32_t slot;
    uint32_t channel;    /* of those that the run uses, from 0 */
    uint32_t bytes;      /* on the wire, header included */
    uint32_t payload;    /* bytes of payload among them */
    uint64_t ready_ps;   /* when it was ready at its source */
    uint64_t visible_ps; /* when it became visible at this node */
    uint32_t transfer;   /* its transfer; with the highest bit set, the requests of that read */
    int32_t priority;    /* of its transfer, larger is served first, 0 by default */
    double weight;       /* of its transfer, finite and > 0, 1 by default */
} weir_head;

/* Who asks for a free output: two or more. */
typedef struct {
    uint32_t struct_size;   /* of the host's structure, which may be longer than this one */
    uint32_t out;           /* the output's link */
    uint64_t now_ps;        /* choices may depend on how long ago something was, not on the time as such */
    const weir_head *heads; /* by ascending slot */
    uint64_t n_heads;
    uint32_t requesters; /* of this output per channel. Slot modulo requesters is the place: place p is the p-th link that
                          * enters the node which `out` leaves, by id; places beyond are engines of that node */
    uint32_t reserved;
} weir_grant_view;

/* A grant that has taken place. */
typedef struct {
    uint32_t out;           /* the output's link */
    uint32_t slot;          /* who got it */
    uint32_t bytes;         /* on the wire */
    uint32_t requesters;    /* as in weir_grant_view */
    const weir_head *heads; /* whom choose was shown; n_heads is 0 where one asked alone, and choose was not called */
    uint64_t n_heads;
} weir_grant;

/* The number of words of a state that cannot be told. */
#define WEIR_NO_STATE SIZE_MAX

typedef struct {
    weir_header header;
    const char *name;          /* as in weir_arbiter_table, */
    const char *version;       /* and these */
    const char *params_schema; /* too */

    /* As in weir_arbiter_table. One instance serves all ports of a run that are given the policy alike. */
    int32_t (*create)(const weir_host *host, const weir_fabric *fabric, const char *params, size_t params_len,
                      void **state, weir_err *err);
    void (*destroy)(void *state);

    /* Forgets all grants. May be null: this host makes an instance for each run instead. */
    int32_t (*reset)(void *state, weir_err *err);

    /* Writes into *slot the slot of one of the heads: the host checks and refuses. It changes nothing: an input may decline,
     * so the same question may come again, and the host asks again for a sample of answers. */
    int32_t (*choose)(void *state, const weir_grant_view *view, uint32_t *slot, weir_err *err);

    /* These n grants, one or more, have taken place, in this order. */
    int32_t (*commit)(void *state, const weir_grant *grants, size_t n, weir_err *err);

    /* Writes what later choices for the output `out` depend on, apart from the packets, as at most `cap` words into `to`, and
     * their number into *n, which arrives as WEIR_NO_STATE. Equal words, equal choices: the host skips periods with it, so
     * numbers that only grow are none. May be null; that, and leaving *n, mean that runs never skip ahead. */
    int32_t (*state)(void *state, uint32_t out, uint64_t *to, size_t cap, size_t *n, weir_err *err);

    const char *description; /* whom it serves, in a few words; UTF-8 and static, may be null */
} weir_port_arbiter_table;

/* ---- Models ---- */

/* A route in short. */
typedef struct {
    double bandwidth;  /* of its narrowest link, bytes per second */
    double latency_ps; /* sum of its links' latencies, ps */
    uint32_t links;    /* their number */
} weir_route_info;

/* What a model gets besides the operation; borrowed for the call. */
typedef struct weir_surroundings weir_surroundings;
struct weir_surroundings {
    const void *context;       /* the host's own */
    const weir_fabric *fabric; /* node ids at or beyond node_kind.len are devices that it lacks: engines, no links */
    /* The route between two nodes: 1 and *info written, or 0 where there is none, or they are the same. */
    int32_t (*route)(const weir_surroundings *surroundings, uint32_t from, uint32_t to, weir_route_info *info);
};

/* To whom an engine belongs. */
enum weir_scope {
    WEIR_SCOPE_DEVICE = 0,   /* to a device: operations that name the same engine of the device share it */
    WEIR_SCOPE_OPERATION = 1 /* to this operation alone */
};

/* Which moment of another task is waited for. */
enum weir_moment {
    WEIR_MOMENT_END = 0,  /* its end */
    WEIR_MOMENT_START = 1 /* the begin of its work, after its lead */
};

/* When a task takes its place in the queue of its engine; nobody overtakes. */
enum weir_queue {
    WEIR_QUEUE_ISSUED = 0, /* at the operation's release, in plan order: a head that is not ready holds up all */
    WEIR_QUEUE_READY = 1   /* when it is ready */
};

/* What a task does. */
enum weir_work {
    WEIR_WORK_NOTHING = 0, /* a join where it has no engine; else it holds the engine for no time */
    WEIR_WORK_LASTS = 1,   /* takes lasts_ps */
    WEIR_WORK_CARRIES = 2  /* moves `bytes` over the fabric at the arbiter's rate; no bytes take no time */
};

/* An engine that a plan uses. The names `send` (plain transfers) and `compute` (computations) of a device are shared with
 * the rest of the workload. */
typedef struct {
    weir_slice_u8 name; /* within its scope, UTF-8 */
    uint32_t slots;     /* tasks served at once, >= 1; one name with two numbers of slots is an error */
    uint32_t scope;     /* enum weir_scope */
    uint32_t device;    /* the node it belongs to; not read with WEIR_SCOPE_OPERATION */
} weir_engine;

/* A task waits for a moment of another task of the plan. */
typedef struct {
    uint32_t task;   /* its position in the plan; it may be emitted later */
    uint32_t moment; /* enum weir_moment */
} weir_wait;

typedef struct { const weir_wait *data; size_t len; } weir_slice_wait;

/* The value of weir_task.limit that sets none. */
#define WEIR_NO_LIMIT HUGE_VAL

/* A task. Its work begins at
 *   max(ready + lead, end of the previous + gap) when the task before it on its slot is of the same class,
 *   max(ready, end of the previous) + lead       when that is of another class,
 *   ready + lead                                 when there is none, or no engine.
 * It takes the slot that has been free for longest, the lowest among equals. Times are real numbers of ps, finite and
 * >= 0; the host rounds them to the nearest ps, halves up. */
typedef struct {
    weir_slice_u8 name;    /* unique in the plan, UTF-8, without '/'; results say <operation>/<task> */
    weir_slice_wait waits; /* what it waits for; without any: the operation's release */
    uint32_t engine;       /* what emit_engine returned, or WEIR_NONE */
    uint32_t queue;        /* enum weir_queue */
    uint32_t class_id;     /* its direction, any number */
    uint32_t work;         /* enum weir_work; it says which of the fields below are read */
    double lead_ps;        /* time before its work that may overlap the task before it (L + o) */
    double gap_ps;         /* time after the task before it that cannot be overlapped (g) */
    double lasts_ps;       /* WEIR_WORK_LASTS: how long it takes */
    uint32_t from;         /* WEIR_WORK_CARRIES: source, */
    uint32_t to;           /* destination, */
    uint64_t bytes;        /* payload, at most 2^53, */
    double limit;          /* and largest rate in bytes per second, or WEIR_NO_LIMIT */
} weir_task;

/* Takes a plan. Each function returns the position of what was emitted, from 0, or WEIR_NONE once something has been
 * refused: the host has noted why, so return. Records and what they point to are copied. A plan has at most 10^7 tasks. */
typedef struct weir_planner weir_planner;
struct weir_planner {
    void *context; /* the host's own */
    uint32_t (*emit_engine)(const weir_planner *planner, const weir_engine *engine);
    uint32_t (*emit_task)(const weir_planner *planner, const weir_task *task);
};

/* How the simulated time of an operation that runs alone relates to a closed form. */
enum weir_relation {
    WEIR_RELATION_UNSTATED = 0, /* nothing is claimed */
    WEIR_RELATION_EQUAL = 1,    /* equal, to 1e-9 relative or 1 ps per instant at which a task starts or ends */
    WEIR_RELATION_AT_MOST = 2,  /* the simulated time is at most the formula's */
    WEIR_RELATION_AT_LEAST = 3  /* the simulated time is at least the formula's */
};

/* The time of an operation by a closed form. */
typedef struct {
    weir_slice_u8 formula; /* its name, such as `eq15`, UTF-8 */
    weir_slice_u8 because; /* which of its assumptions the plan does not share, UTF-8, a line each, marked + - or ?; empty for none */
    double seconds;        /* finite, >= 0 */
    uint32_t relation;     /* enum weir_relation */
} weir_estimate;

/* Takes estimates, in the order of printing; the last one is that of the operation itself. Each function returns 0, or 1
 * once something has been refused: the host has noted why, so return. */
typedef struct weir_estimator weir_estimator;
struct weir_estimator {
    void *context; /* the host's own */
    int32_t (*emit_estimate)(const weir_estimator *estimator, const weir_estimate *estimate);
    /* A JSON object for the results, `len` bytes of UTF-8; at most once. */
    int32_t (*emit_details)(const weir_estimator *estimator, const char *details, size_t len);
};

/* One way to do an operation that leaves a choice open. */
typedef struct {
    weir_slice_u8 label;     /* what is chosen, for a person, UTF-8 */
    weir_slice_u8 operation; /* the operation with nothing left open: the JSON object as given, but for what is chosen */
} weir_alternative;

/* Takes the ways to do an operation, the preferred ones first; it returns as those of weir_estimator do. */
typedef struct weir_chooser weir_chooser;
struct weir_chooser {
    void *context; /* the host's own */
    int32_t (*emit_alternative)(const weir_chooser *chooser, const weir_alternative *alternative);
};

typedef struct {
    weir_header header;
    const char *name;       /* lower-case words joined by '-'; NUL-terminated UTF-8 and static, */
    const char *version;    /* as is the version, shown in results, */
    const char *operations; /* the keys of the workload's items that it serves, separated by commas or spaces: lower-case
                             * words joined by '-'; `transfer` for plain transfers with `model: { name: ... }`, */
    const char *schema;     /* and the JSON Schema of such items: an object whose `properties` has one for each key, the
                             * schema of the map under it */

    /* Builds an instance. Writes *state (which may be null) only when it returns 0. */
    int32_t (*create)(const weir_host *host, void **state, weir_err *err);

    /* Frees an instance; called once for each create that returned 0, even after a panic. */
    void (*destroy)(void *state);

    /* Emits the engines and tasks of an operation: a JSON object of `len` bytes, not NUL-terminated, such as
     * {"operation":"put","id":"p","params":{...}}, whose `params` fit the schema, with sizes in bytes, times in ps, times
     * per byte in ps, bandwidths in bytes per second and nodes as ids. 1 refuses: the text says why, and begins with
     * the key at fault where there is one, as in `packet: must not be 0; leave it out for none`. */
    int32_t (*plan)(void *state, const char *operation, size_t len, const weir_surroundings *surroundings,
                    const weir_planner *planner, weir_err *err);

    /* Emits what closed forms say of the operation. May be null; emitting nothing means the same. */
    int32_t (*estimate)(void *state, const char *operation, size_t len, const weir_surroundings *surroundings,
                        const weir_estimator *estimator, weir_err *err);

    /* Emits the ways to do an operation that leaves a choice open; the host simulates each alone and plans the fastest,
     * among equals the first. May be null; emitting nothing means that nothing is open. */
    int32_t (*alternatives)(void *state, const char *operation, size_t len, const weir_surroundings *surroundings,
                            const weir_chooser *chooser, weir_err *err);
} weir_model_table;

/* ---- What a library exports ---- */

#if defined(_WIN32)
#define WEIR_EXPORT __declspec(dllexport)
#else
#define WEIR_EXPORT __attribute__((visibility("default")))
#endif

/* The functions that a library exports, one of them at least: its table at an index, null past the end. */
WEIR_EXPORT const weir_arbiter_table *weir_arbiter(uint32_t index);
WEIR_EXPORT const weir_port_arbiter_table *weir_port_arbiter(uint32_t index);
WEIR_EXPORT const weir_model_table *weir_model(uint32_t index);

/* A text that ends with NUL, as a slice; for the static names of engines, tasks and formulas. */
static inline weir_slice_u8 weir_text(const char *text)
{
    weir_slice_u8 slice;
    slice.data = (const uint8_t *)text;
    slice.len = strlen(text);
    return slice;
}

/* A task that waits for the release of the operation, has no engine and does nothing: set what differs. */
static inline weir_task weir_plain_task(const char *name)
{
    weir_task task;
    memset(&task, 0, sizeof task);
    task.name = weir_text(name);
    task.engine = WEIR_NONE;
    task.queue = WEIR_QUEUE_READY;
    task.limit = WEIR_NO_LIMIT;
    return task;
}

/* Writes the text of an error and returns WEIR_ERROR: `return weir_fail(err, "why, and what to do")`. */
static inline int32_t weir_fail(weir_err *err, const char *text)
{
    size_t len = strlen(text);
    if (len > err->capacity) {
        len = err->capacity;
    }
    memcpy(err->data, text, len);
    err->len = len;
    return WEIR_ERROR;
}

#ifdef __cplusplus
}
#endif

#endif
