/* A plugin whose answers are wrong in the way that MODE says, so that the command's words about them can be tested. */
#include "weir_plugin.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

enum {
    STALLS,
    FORGETS,
    OVERFILLS,
    HANGS,
    FORGETS_LONE,
    FAILS_LONE,
    CRASHES,
    ABORTS,
    EXITS,
    PRINTS,
    ROUNDS,
    CRASHES_AT,
    ROUNDS_OPENED,
    ROUNDS_LISTED,
    ROUNDS_DESTROYED,
    CRASHES_DESTROYED,
    HANGS_DESTROYED,
    MOVES_ERROR,
    MINUS_ZERO,
    SUBNORMAL,
    AGAIN_SOON,
    AGAIN_IN_VAIN,
    OVERRUNS,
    SCRIBBLES,
    ABORTS_AT_EXIT,
    QUICKLY_EXITS,
    IS_ALARMED
};

/* C11; the compiler is asked for C99. */
void quick_exit(int code);

static void round_down(int mode)
{
#ifdef __SSE__
    if (MODE == mode) {
        _MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO);
    }
#endif
    (void)mode;
}

__attribute__((constructor)) static void opened(void)
{
    round_down(ROUNDS_OPENED);
    if (MODE == ABORTS_AT_EXIT) {
        atexit(abort);
    }
}

static int32_t create(const weir_host *host, const weir_fabric *fabric, const char *params, size_t len, void **state,
                      weir_err *err)
{
    static int nothing;
    (void)host;
    (void)fabric;
    (void)params;
    (void)len;
    if (MODE == MOVES_ERROR) {
        err->data = (char *)8;
        err->len = 10;
        return WEIR_ERROR;
    }
    *state = &nothing;
    return WEIR_OK;
}

static void destroy(void *state)
{
    volatile int forever = MODE == HANGS_DESTROYED;
    (void)state;
    while (forever) {
    }
    round_down(ROUNDS_DESTROYED);
    if (MODE == CRASHES_DESTROYED) {
        *(volatile int *volatile)NULL = 1;
    }
}

static int32_t reset(void *state, weir_err *err)
{
    (void)state;
    (void)err;
    return WEIR_OK;
}

static int32_t admit(void *state, const uint32_t *links, size_t len, weir_err *err)
{
    (void)state;
    (void)links;
    (void)len;
    (void)err;
    return WEIR_OK;
}

static int32_t allocate(void *state, const weir_phase *phase, double *rates, weir_binding *bindings,
                        uint64_t *recheck_ps, weir_err *err)
{
    volatile int forever = MODE == HANGS;
    /* The question about one transfer alone: in the scenario of the tests two begin together. */
    int lone = phase->now_ps == 0 && phase->id.len == 1;
    size_t t;
    (void)state;
    (void)bindings;
    while (forever) {
    }
    if (MODE == CRASHES) {
        *(volatile int *volatile)NULL = 1;
    }
    if (MODE == CRASHES_AT) {
        static long calls;
        const char *at = getenv("SICK_AT");
        if (at && ++calls == atol(at)) {
            abort();
        }
    }
    if (MODE == ABORTS) {
        abort();
    }
    if (MODE == EXITS) {
        exit(0);
    }
    if (MODE == QUICKLY_EXITS) {
        quick_exit(0);
    }
    if (MODE == IS_ALARMED) {
        raise(SIGALRM);
    }
    if (MODE == PRINTS) {
        printf("a word of the plugin\n");
    }
    round_down(ROUNDS);
    if (MODE == AGAIN_SOON || MODE == AGAIN_IN_VAIN) {
        *recheck_ps = phase->now_ps + (MODE == AGAIN_SOON ? 1 : 1000);
    }
    if (MODE == OVERRUNS) {
        /* Beyond the slots of the rates, to the end of the heap. */
        volatile double *slots = rates;
        for (;; slots++) {
            *slots = 1.0;
        }
    }
    if (MODE == SCRIBBLES) {
        int descriptor;
        for (descriptor = 3; descriptor < 64; descriptor++) {
            ssize_t written = write(descriptor, "scribble", 8);
            (void)written;
        }
    }
    if (MODE == FORGETS_LONE && lone) {
        return WEIR_OK;
    }
    if (MODE == FAILS_LONE && lone) {
        return weir_fail(err, "nobody is alone");
    }
    for (t = MODE == FORGETS ? 1 : 0; t < phase->id.len; t++) {
        rates[t] = MODE == OVERFILLS                          ? 1e12
                   : MODE == STALLS || MODE == AGAIN_IN_VAIN ? 0.0
                   : MODE == MINUS_ZERO                      ? -0.0
                   : MODE == SUBNORMAL                       ? 5e-324
                                                             : 1e9 / (double)phase->id.len;
    }
    return WEIR_OK;
}

static const weir_arbiter_table table = {
    {WEIR_MAGIC, WEIR_ABI_MAJOR, WEIR_ABI_MINOR, sizeof(weir_arbiter_table), sizeof(weir_phase), WEIR_KIND_ARBITER, 0},
    "sick", "1.0.0", "{\"type\": \"object\"}", create, destroy, reset, admit, allocate, NULL,
};

const weir_arbiter_table *weir_arbiter(uint32_t index)
{
    round_down(ROUNDS_LISTED);
    return index == 0 ? &table : NULL;
}
