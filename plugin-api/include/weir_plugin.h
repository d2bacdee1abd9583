/* weir plugins, ABI 1: write a rate arbiter in C, C++, Zig or anything that speaks C.
 *
 * A rate arbiter divides the bandwidth of a fabric of links among the transfers that are active at one moment (a phase).
 * A library lists its arbiters through one function, `weir_arbiter`. docs/plugin-abi.md explains the rules at length;
 * examples/plugins/c-equal-split is a complete plugin. Build with
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
 * Within a major version: the header stays as it is, tables and views grow only at their ends, and the numbers below
 * keep their meaning.
 */
#ifndef WEIR_PLUGIN_H
#define WEIR_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_MAGIC UINT64_C(0x47554c5052494557) /* "WEIRPLUG", read as a little-endian number */
#define WEIR_ABI_MAJOR 1u
#define WEIR_ABI_MINOR 0u

/* Kinds of table. */
#define WEIR_KIND_ARBITER 1u
#define WEIR_KIND_MODEL 2u /* reserved together with the symbol `weir_model`; not loaded by this version */

/* Flags of an arbiter: claims that the host relies on. Any other bit is refused. */
#define WEIR_PURE 1u            /* the answer depends only on fabric, parameters and phase: the host may remember it */
#define WEIR_WORK_CONSERVING 2u /* no link that could raise a transfer is left idle */
#define WEIR_WHOLE_SET 4u       /* must be shown all active transfers, not only those connected to a change */
#define WEIR_READS_ARRIVAL 8u   /* reads `arrival`, by rank only */

/* What a call returns. */
#define WEIR_OK 0
#define WEIR_ERROR 1
#define WEIR_PANIC 2

/* No link, no transfer. */
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
    WEIR_CAUSE_PRIORITY = 9      /* a transfer of higher priority is served first */
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
    uint32_t abi_minor;  /* WEIR_ABI_MINOR: at most the host's */
    uint32_t table_size; /* sizeof(weir_arbiter_table) */
    uint32_t view_size;  /* sizeof(weir_phase) */
    uint32_t kind;       /* WEIR_KIND_ARBITER */
    uint32_t flags;
} weir_header;

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

#if defined(_WIN32)
#define WEIR_EXPORT __declspec(dllexport)
#else
#define WEIR_EXPORT __attribute__((visibility("default")))
#endif

/* The function a library exports: its table at an index, null past the end. */
WEIR_EXPORT const weir_arbiter_table *weir_arbiter(uint32_t index);

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
