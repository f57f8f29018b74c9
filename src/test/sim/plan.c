/* Plans from seeds, and their text form: see plan.h. */
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"

static const char *const words[PLAN_KIND_COUNT] = {
    [PLAN_ACQUIRE] = "acquire", [PLAN_ACQUIRE_S] = "acquire-s",
    [PLAN_CANCEL] = "cancel",   [PLAN_RELEASE] = "release",
    [PLAN_BREAK] = "break",     [PLAN_BREAK_NOW] = "break-now",
    [PLAN_INSPECT] = "inspect", [PLAN_CLOSE] = "close",
    [PLAN_PAUSE] = "pause",     [PLAN_CRASH] = "crash",
    [PLAN_CUT] = "cut",         [PLAN_MUTE] = "mute",
    [PLAN_KILL] = "kill",       [PLAN_DOWN] = "down",
    [PLAN_NET] = "net",         [PLAN_SAVE] = "save",
    [PLAN_RESTORE] = "restore",
};

/* What a plan is mostly about. */
enum style {
    STYLE_MIXED,
    STYLE_LEASES, /* long holds of clients that stand still and are cut off */
    STYLE_COUNT
};

/* How often an item of each kind is drawn. RESTORE has plans of its own. */
static const unsigned weights[STYLE_COUNT][PLAN_KIND_COUNT] = {
    [STYLE_MIXED] =
        {
            [PLAN_ACQUIRE] = 50,
            [PLAN_ACQUIRE_S] = 5,
            [PLAN_CANCEL] = 10,
            [PLAN_RELEASE] = 6,
            [PLAN_BREAK] = 4,
            [PLAN_BREAK_NOW] = 2,
            [PLAN_INSPECT] = 2,
            [PLAN_CLOSE] = 2,
            [PLAN_PAUSE] = 4,
            [PLAN_CRASH] = 2,
            [PLAN_CUT] = 4,
            [PLAN_MUTE] = 3,
            [PLAN_KILL] = 1,
            [PLAN_DOWN] = 2,
            [PLAN_NET] = 5,
        },
    [STYLE_LEASES] =
        {
            [PLAN_ACQUIRE] = 30,
            [PLAN_BREAK] = 3,
            [PLAN_PAUSE] = 20,
            [PLAN_CUT] = 20,
            [PLAN_NET] = 10,
            [PLAN_DOWN] = 1,
        },
};

static int64_t draw(struct pawl__rand *rand, int64_t min, int64_t max)
{
    return min + (int64_t)pawl__rand_below(rand, (uint64_t)(max - min) + 1);
}

static enum plan_kind draw_kind(struct pawl__rand *rand, enum style style)
{
    unsigned total = 0;

    for (int i = 0; i < PLAN_KIND_COUNT; i++) {
        total += weights[style][i];
    }
    unsigned at = (unsigned)pawl__rand_below(rand, total);
    for (int i = 0; i < PLAN_KIND_COUNT; i++) {
        if (at < weights[style][i]) {
            return (enum plan_kind)i;
        }
        at -= weights[style][i];
    }
    return PLAN_ACQUIRE;
}

static int64_t draw_names(struct pawl__rand *rand, unsigned names)
{
    int64_t set = 0;

    for (int64_t n = draw(rand, 1, 3) == 3 ? draw(rand, 2, 3) : 1; n > 0; n--) {
        set |= INT64_C(1) << pawl__rand_below(rand, names);
    }
    return set;
}

/* Mostly short, sometimes longer than a ttl. */
static int64_t draw_while(struct pawl__rand *rand, int64_t ttl_ms)
{
    int64_t max = draw(rand, 0, 2) == 0 ? 3 * ttl_ms : ttl_ms / 2;

    return draw(rand, 1, max);
}

static void draw_acquire(struct pawl__rand *rand, const struct plan *plan, struct plan_item *item)
{
    item->a = draw_names(rand, plan->names);
    switch (draw(rand, 0, 3)) {
    case 0:
        item->b = 0;
        break;
    case 1:
        item->b = draw(rand, 1, 2 * plan->ttl_ms);
        break;
    default:
        item->b = -1;
        break;
    }
    /* Mostly short; some outlive a ttl, so that their lease matters. */
    item->c = draw(rand, 0, 4) == 0 ? draw(rand, 1, 3 * plan->ttl_ms) : draw(rand, 0, 500);
}

static void draw_arguments(struct pawl__rand *rand, const struct plan *plan, struct plan_item *item)
{
    switch (item->kind) {
    case PLAN_ACQUIRE:
    case PLAN_ACQUIRE_S:
        draw_acquire(rand, plan, item);
        break;
    case PLAN_CANCEL:
    case PLAN_RELEASE:
        item->a = draw(rand, 0, 3);
        break;
    case PLAN_BREAK:
    case PLAN_BREAK_NOW:
        item->a = draw(rand, 0, plan->names - 1);
        item->b = draw(rand, 0, 2) == 0 ? draw(rand, 0, 3) : 0;
        break;
    case PLAN_INSPECT:
        item->a = draw(rand, -1, plan->names - 1);
        break;
    case PLAN_CLOSE:
        item->a = draw(rand, 0, plan->ttl_ms);
        item->b = draw(rand, 1, plan->ttl_ms);
        break;
    case PLAN_NET:
        item->a = draw(rand, 1, 3 * plan->ttl_ms);
        item->b = draw(rand, 0, PLAN_NET_COUNT - 1);
        break;
    case PLAN_PAUSE:
    case PLAN_CRASH:
    case PLAN_CUT:
    case PLAN_MUTE:
    case PLAN_DOWN:
        item->a = draw_while(rand, plan->ttl_ms);
        break;
    case PLAN_KILL:
    case PLAN_SAVE:
    case PLAN_RESTORE:
    case PLAN_KIND_COUNT:
        break;
    }
}

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : (a > b ? 1 : 0);
}

/* By time; the rest only so that the order is the same on every machine. */
static int compare_items(const void *a, const void *b)
{
    const struct plan_item *x = a;
    const struct plan_item *y = b;
    int order = compare(x->at_ms, y->at_ms);

    order = order != 0 ? order : compare((int64_t)x->kind, (int64_t)y->kind);
    order = order != 0 ? order : compare(x->client, y->client);
    order = order != 0 ? order : compare(x->a, y->a);
    order = order != 0 ? order : compare(x->b, y->b);
    return order != 0 ? order : compare(x->c, y->c);
}

void plan_make(struct plan *plan, uint64_t seed)
{
    static const int64_t ttls[] = {2000, 4000, 10000};
    struct pawl__rand rand;

    memset(plan, 0, sizeof(*plan));
    pawl__rand_init(&rand, seed);
    plan->seed = seed;
    plan->clients = (unsigned)draw(&rand, 1, PLAN_CLIENTS_MAX);
    plan->names = (unsigned)draw(&rand, 1, PLAN_NAMES_MAX);
    plan->ttl_ms = ttls[draw(&rand, 0, 2)];
    plan->net =
        draw(&rand, 0, 1) == 0 ? PLAN_NET_CALM : (enum plan_net)draw(&rand, 0, PLAN_NET_COUNT - 1);
    plan->count = (size_t)draw(&rand, 4, 60);
    /* Dense and sparse plans: bursts find races, long ones find expiry. */
    int64_t span = draw(&rand, 1, 8) * plan->ttl_ms / 2;
    bool restores = draw(&rand, 0, 39) == 0;
    enum style style = draw(&rand, 0, 3) == 0 ? STYLE_LEASES : STYLE_MIXED;
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_item *item = &plan->items[i];
        item->at_ms = draw(&rand, 0, span);
        item->kind = draw_kind(&rand, style);
        item->client = (unsigned)draw(&rand, 0, plan->clients - 1);
        if (restores && i < 2) {
            item->kind = i == 0 ? PLAN_SAVE : PLAN_RESTORE;
            item->at_ms = i == 0 ? item->at_ms / 2 : span / 2 + item->at_ms / 2;
        }
        draw_arguments(&rand, plan, item);
        if (style == STYLE_LEASES && item->kind == PLAN_ACQUIRE) {
            item->c = draw(&rand, plan->ttl_ms, 6 * plan->ttl_ms);
        }
    }
    qsort(plan->items, plan->count, sizeof(plan->items[0]), compare_items);
}

/* ---- Text -------------------------------------------------------------------------------------
 */

void plan_print(const struct plan *plan, FILE *file)
{
    fprintf(file, "plan %" PRIu64 " %u %u %" PRId64 " %d\n", plan->seed, plan->clients, plan->names,
            plan->ttl_ms, (int)plan->net);
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_item *item = &plan->items[i];
        fprintf(file, "%" PRId64 " %s %u %" PRId64 " %" PRId64 " %" PRId64 "\n", item->at_ms,
                words[item->kind], item->client, item->a, item->b, item->c);
    }
}

static bool read_head(struct plan *plan, const char *line)
{
    int net = 0;

    /* NOLINTNEXTLINE(cert-err34-c): a file of ours; what does not fit is refused below. */
    return sscanf(line, "plan %" SCNu64 " %u %u %" SCNd64 " %d", &plan->seed, &plan->clients,
                  &plan->names, &plan->ttl_ms, &net) == 5 &&
           (plan->net = (enum plan_net)net) < PLAN_NET_COUNT && plan->clients >= 1 &&
           plan->clients <= PLAN_CLIENTS_MAX && plan->names >= 1 && plan->names <= PLAN_NAMES_MAX &&
           plan->ttl_ms >= 2000;
}

static bool read_item(struct plan_item *item, const char *line)
{
    char word[32] = "";

    /* NOLINTNEXTLINE(cert-err34-c): as above. */
    if (sscanf(line, "%" SCNd64 " %31s %u %" SCNd64 " %" SCNd64 " %" SCNd64, &item->at_ms, word,
               &item->client, &item->a, &item->b, &item->c) != 6) {
        return false;
    }
    for (int i = 0; i < PLAN_KIND_COUNT; i++) {
        if (strcmp(words[i], word) == 0) {
            item->kind = (enum plan_kind)i;
            return true;
        }
    }
    return false;
}

/* False: the line fits into no plan. */
static bool read_line(struct plan *plan, const char *line)
{
    if (line[0] == '#' || line[0] == '\n') {
        return true;
    }
    if (plan->clients == 0) {
        return read_head(plan, line);
    }
    if (plan->count == PLAN_ITEMS_MAX || !read_item(&plan->items[plan->count], line) ||
        plan->items[plan->count].client >= plan->clients) {
        return false;
    }
    plan->count++;
    return true;
}

bool plan_read(struct plan *plan, FILE *file, int *ret_line)
{
    char line[256];
    long start = ftell(file);

    memset(plan, 0, sizeof(*plan));
    for (*ret_line = 1; fgets(line, sizeof(line), file) != NULL; (*ret_line)++) {
        if (plan->clients > 0 && strncmp(line, "plan ", 5) == 0) {
            return fseek(file, start, SEEK_SET) == 0; /* It begins the next one. */
        }
        if (!read_line(plan, line)) {
            return false;
        }
        start = ftell(file);
    }
    return plan->clients > 0;
}
