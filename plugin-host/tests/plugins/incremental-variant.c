/* A plugin with an incremental side whose table is right unless a macro makes it wrong. */
#ifndef SIDE_NAME
#define SIDE_NAME "variant"
#endif
#ifndef SIDE_VERSION
#define SIDE_VERSION "1.0.0"
#endif
#ifndef SIDE_MINOR
#define SIDE_MINOR WEIR_ABI_MINOR_INCREMENTAL
#endif
#ifndef SIDE_SIZE
#define SIDE_SIZE sizeof(weir_incremental_table)
#endif
#ifndef SIDE_VIEW
#define SIDE_VIEW sizeof(weir_answer)
#endif
#ifndef SIDE_KIND
#define SIDE_KIND WEIR_KIND_INCREMENTAL
#endif
#ifndef SIDE_FLAGS
#define SIDE_FLAGS 0
#endif
#ifndef SIDE_CREATE
#define SIDE_CREATE side_create
#endif
#ifndef SIDE_DESTROY
#define SIDE_DESTROY destroy
#endif
#ifndef ADD_CLASS
#define ADD_CLASS add_class
#endif
#ifndef SETTLE
#define SETTLE settle
#endif
#ifndef ABOVE
#define ABOVE above
#endif
#ifndef BESIDE
#define BESIDE beside
#endif
#ifndef LINK_USE
#define LINK_USE link_use
#endif
#ifndef SIDES
#define SIDES (index == 0 ? &side : NULL)
#endif

#include "variant.c"

int32_t side_create(const weir_host *, const weir_setting *, const char *, size_t, void **, weir_err *);
int32_t side_create(const weir_host *host, const weir_setting *setting, const char *params, size_t len, void **state,
                    weir_err *err)
{
    if (len != 2 || memcmp(params, "{}", 2) != 0) {
        return weir_fail(err, "takes no parameters");
    }
    if (setting->capacities.len != 2 || setting->capacities.data[1] != 500 || setting->links != 2
        || setting->classes != 7 || setting->priorities != 3 || setting->bits != 30 || setting->wants_peaks != 1) {
        return weir_fail(err, "the setting is another one");
    }
    *state = (void *)host;
    return WEIR_OK;
}

int32_t add_class(void *, uint32_t, const weir_class_info *, weir_err *);
int32_t add_class(void *state, uint32_t class_id, const weir_class_info *info, weir_err *err)
{
    (void)state;
    (void)class_id;
    return info->priority == 13 ? weir_fail(err, "thirteen is no priority") : WEIR_OK;
}

/* Group and root 0 for the class of the first entry, at the level of its weight; the instant chooses what goes wrong. */
int32_t settle(void *, const weir_change *, weir_answer *, weir_err *);
int32_t settle(void *state, const weir_change *change, weir_answer *answer, weir_err *err)
{
    static weir_group_move group;
    static weir_class_move move;
    static weir_root_level level;
    static uint32_t dropped;
    (void)state;
    if (change->now_ps == 1) {
        return weir_fail(err, "at one I fail");
    }
    if (change->now_ps == 2) {
        return 99;
    }
    if (change->now_ps == 4) {
        answer->levels.len = SIZE_MAX / 2;
    }
    if (change->added.len > 0) {
        move.class_id = change->added.data[0].class_id;
        level.link = 1;
        level.level = change->added.data[0].weight;
        answer->groups.data = &group;
        answer->groups.len = 1;
        answer->classes.data = &move;
        answer->classes.len = 1;
        answer->levels.data = &level;
        answer->levels.len = 1;
    }
    if (change->removed.len > 0) {
        dropped = change->removed.data[0].class_id;
        answer->dropped.data = &dropped;
        answer->dropped.len = 1;
        answer->groups.data = NULL; /* allowed where it is empty */
    }
    return WEIR_OK;
}

int32_t above(void *, uint32_t, uint32_t *, weir_err *);
int32_t above(void *state, uint32_t root, uint32_t *class_id, weir_err *err)
{
    (void)state;
    (void)err;
    *class_id = *class_id == WEIR_NONE ? root : 0;
    return WEIR_OK;
}

int32_t beside(void *, uint32_t, uint32_t *, weir_err *);
int32_t beside(void *state, uint32_t root, uint32_t *class_id, weir_err *err)
{
    (void)state;
    *class_id += root;
    return root == 9 ? weir_fail(err, "nine is no root") : WEIR_OK;
}

int32_t link_use(void *, uint32_t, uint64_t, weir_link_use *, weir_err *);
int32_t link_use(void *state, uint32_t link, uint64_t now_ps, weir_link_use *use, weir_err *err)
{
    (void)state;
    (void)err;
    use->peak = 100 + link;
    use->is_full = link == 1;
    use->stalled_ps = now_ps / 2;
    return WEIR_OK;
}

static const weir_incremental_table side = {
    {WEIR_MAGIC, WEIR_ABI_MAJOR, SIDE_MINOR, SIDE_SIZE, SIDE_VIEW, SIDE_KIND, SIDE_FLAGS}, SIDE_NAME, SIDE_VERSION,
    SIDE_CREATE, SIDE_DESTROY, ADD_CLASS, SETTLE, ABOVE, BESIDE, LINK_USE,
};

WEIR_EXPORT const weir_incremental_table *weir_incremental(uint32_t index)
{
    (void)index;
    return SIDES;
}
