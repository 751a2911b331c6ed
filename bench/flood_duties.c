/* The flood over our queue, with the duties of the engine added one by one. `flood_with` is compiled
 * once for each number of duties: the next number does all that the one before does, and one more. */
#include "flood.c"

enum { STAMPED = 1, ALIVE = 2, COUNTED = 3, BEHIND_A_DOOR = 4, CHECKED = 5, WINDOWED = 6 };

/* The engine's record of 128 bytes. */
typedef struct {
    double at;
    uint8_t kind, flags;
    uint16_t hops;
    i4 source, target, next, topic, event, publisher, sequence;
    u4 epoch, incarnation;
    i4 args[8];
    double reals[6];
} record;

typedef struct {
    i4 publisher;
    u4 epoch;
    i4 newest;
    u4 used;
    u8 bits;
} window;

/* What is off in this flood, and asked for at each delivery all the same. */
typedef struct {
    u4 pauses, cuts, clocks, ages, journal, checks, node_ids, volumes;
} features;

typedef struct {
    double departed;
    i8 order;
    u4 cursor, row, turns;
    uint8_t phase;
} transit;

typedef struct {
    const task *t;
    record *pool;
    u4 *free, spare;
    uint8_t *seen;
    window *windows; /* [n][2] */
    u4 *recorded;    /* [n] */
    u4 *turns, *incarnation;
    i8 (*traffic)[2], sent[256], received[256], delivered;
    transit *flight;
    features off;
    u8 hash;
} engine;

static inline u4 taken(engine *e, double at, uint8_t kind, i4 next) {
    u4 slot = e->free[--e->spare];
    memset(&e->pool[slot], 0, sizeof(record));
    e->pool[slot].at = at, e->pool[slot].kind = kind, e->pool[slot].next = next;
    e->pool[slot].target = e->pool[slot].topic = -1;
    return slot;
}
static __attribute__((noinline)) int is_new_elsewhere(engine *e, u4 i, const record *m) {
    window *own = &e->windows[2 * (size_t)i];
    int place = own[0].publisher == m->publisher ? 0 : own[1].publisher == m->publisher ? 1 : -1;
    if (place < 0) {
        place = own[1].used < own[0].used;
        own[place] = (window){m->publisher, m->epoch, m->event, 0, 0};
    }
    i4 behind = own[place].newest - m->event;
    if (behind >= 64 || (behind >= 0 && own[place].bits >> behind & 1)) return 0;
    if (behind < 0) own[place].bits = behind <= -64 ? 0 : own[place].bits << -behind, own[place].newest = m->event, behind = 0;
    own[place].bits |= (u8)1 << behind;
    own[place].used = ++e->recorded[i];
    return 1;
}
static inline int is_new(engine *e, u4 i, const record *m, const int duties) {
    if (duties < WINDOWED) {
        uint8_t *seen = &e->seen[(size_t)i * e->t->events + m->event];
        return *seen ? 0 : (*seen = 1);
    }
    window *first = &e->windows[2 * (size_t)i + (m->publisher & 1)];
    if (first->publisher == m->publisher && first->epoch == m->epoch) {
        i4 ahead = m->event - first->newest;
        if (ahead == 0 && first->bits & 1) return 0;
    }
    return is_new_elsewhere(e, i, m);
}
/* The protocol: what a node emits stands on top of the free slots, as in our outbox. */
static inline void handle(engine *e, u4 i, record *m, const int duties) {
    int repeats = m->kind == REPEAT;
    if (!repeats && !is_new(e, i, m, duties)) return;
    u4 slot = taken(e, repeats ? 0.0 : e->t->wait, repeats ? FLOOD : REPEAT, repeats ? -1 : (i4)i);
    record *made = &e->pool[slot];
    made->event = m->event, made->publisher = m->publisher, made->epoch = m->epoch;
}
static __attribute__((noinline)) void handle_by_byte(engine *e, u4 i, record *m) {
    handle(e, i, m, BEHIND_A_DOOR);
}
static __attribute__((noinline)) void handle_by_window(engine *e, u4 i, record *m) {
    handle(e, i, m, WINDOWED);
}
typedef void (*door)(engine *, u4, record *);
static volatile door doors[2] = {handle_by_byte, handle_by_window};

#define ALWAYS static inline __attribute__((always_inline))
ALWAYS void off_by_default(engine *e, u4 on, u4 place) {
    if (on) e->hash ^= place; /* never: it keeps the test */
}
ALWAYS void transmit(engine *e, calendar *q, u4 slot, const int duties) {
    record *m = &e->pool[slot];
    transit *f = &e->flight[slot];
    u4 i = f->row, first = e->t->start[i];
    if (duties >= COUNTED) {
        e->traffic[i][0]++, e->sent[m->kind]++;
        if (duties >= CHECKED) off_by_default(e, e->off.volumes, i);
    }
    f->departed = m->at, f->order = q->order, f->cursor = 0, f->phase = 2;
    q->order += e->t->start[i + 1] - first;
    u4 to = e->t->delay ? e->t->turn[first] : first;
    m->at += e->t->delay ? e->t->delay[to] : e->t->hop;
    enter(q, m->at, f->order + (to - first), slot);
}
/* Queue what a node emitted, from the top of the free slots down to where they were before. */
ALWAYS void send(engine *e, calendar *q, u4 row, double now, uint16_t hops, u4 before, const int duties) {
    for (u4 at = before; at-- > e->spare;) {
        u4 slot = e->free[at];
        record *m = &e->pool[slot];
        int waits = m->at > 0.0;
        m->at += now;
        e->flight[slot].row = row;
        if (duties >= ALIVE) e->flight[slot].turns = e->turns[row];
        if (duties >= CHECKED) off_by_default(e, e->off.clocks | e->off.node_ids | e->off.ages, row);
        m->source = (i4)row;
        if (duties >= ALIVE) m->incarnation = e->incarnation[row];
        m->hops = hops;
        if (m->next != m->source) m->hops += m->hops < 65534;
        if (m->next != m->source && !waits) {
            transmit(e, q, slot, duties);
        } else {
            e->flight[slot].phase = 1;
            enter(q, m->at, q->order++, slot);
        }
    }
}
ALWAYS void deliver(engine *e, calendar *q, u4 row, u4 slot, const int duties) {
    record *m = &e->pool[slot];
    if (duties >= CHECKED) off_by_default(e, e->off.pauses, row);
    double now = m->at;
    uint16_t hops = m->hops;
    u4 before = e->spare;
    e->delivered++;
    if (e->t->order_hash) {
        world w = {.hash = e->hash};
        hear(e->t, &w, now, row, m->event, m->kind);
        e->hash = w.hash;
    }
    if (duties >= CHECKED) {
        off_by_default(e, e->off.ages, row);
        off_by_default(e, e->off.checks, row);
        off_by_default(e, e->off.journal, row);
        off_by_default(e, e->off.clocks, row);
    }
    if (duties >= BEHIND_A_DOOR) doors[duties >= WINDOWED](e, row, m);
    else handle(e, row, m, duties);
    m->at = now;
    if (duties >= CHECKED) off_by_default(e, e->off.ages, row);
    send(e, q, row, now, hops, before, duties);
}
/* Let those receive a broadcast whose turn has come; 1 when all have. */
ALWAYS int spread(engine *e, calendar *q, u4 slot, const int duties) {
    record *m = &e->pool[slot];
    transit *f = &e->flight[slot];
    const task *t = e->t;
    u4 first = t->start[f->row], receivers = t->start[f->row + 1] - first;
    for (u4 cursor = f->cursor; cursor < receivers;) {
        u4 place = t->delay ? t->turn[first + cursor] : first + cursor;
        if (t->delay && cursor > 0) {
            m->at = f->departed + t->delay[place];
            i8 order = f->order + (place - first);
            if (!comes_first(q, m->at, order)) {
                f->cursor = cursor;
                enter(q, m->at, order, slot);
                return 0;
            }
        }
        cursor++;
        u4 row = (u4)t->who[place];
        if (duties >= ALIVE && e->turns[row] & 1) continue;
        if (duties >= CHECKED) off_by_default(e, e->off.cuts, place);
        if (duties >= COUNTED) e->traffic[row][1]++, e->received[m->kind]++;
        if (duties >= CHECKED) off_by_default(e, e->off.volumes, row);
        deliver(e, q, row, slot, duties);
    }
    return 1;
}
ALWAYS int64_t flood_with(const task *t, const int duties) {
    engine *e = calloc(1, sizeof(engine));
    calendar q = calendar_for(t->slots);
    *e = (engine){.t = t, .pool = calloc(t->slots, sizeof(record)), .free = malloc(4 * (size_t)t->slots),
                  .spare = t->slots, .seen = calloc(t->n, t->events),
                  .windows = calloc(2 * (size_t)t->n, sizeof(window)), .recorded = calloc(t->n, 4),
                  .turns = calloc(t->n, 4), .incarnation = calloc(t->n, 4),
                  .traffic = calloc(t->n, sizeof(i8[2])), .flight = calloc(t->slots, sizeof(transit))};
    for (u4 s = 0; s < t->slots; s++) e->free[s] = t->slots - 1 - s;
    for (size_t k = 0; k < 2 * (size_t)t->n; k++) e->windows[k].publisher = -1;
    for (i4 k = 0; k < t->events; k++) {
        u4 slot = taken(e, t->published[k], PUBLISH, t->publisher[k]);
        record *m = &e->pool[slot];
        m->event = k, m->source = m->publisher = t->publisher[k];
        e->flight[slot] = (transit){.row = (u4)t->publisher[k], .turns = 0, .phase = 0};
        enter(&q, m->at, q.order++, slot);
    }
    while (q.entries) {
        u4 slot = take(&q);
        if (e->flight[slot].phase == 2) {
            if (!spread(e, &q, slot, duties)) continue;
        } else if (duties < ALIVE || e->flight[slot].turns == e->turns[e->flight[slot].row]) {
            deliver(e, &q, e->flight[slot].row, slot, duties);
        }
        e->free[e->spare++] = slot;
    }
    int64_t delivered = e->delivered;
    if (t->order_hash) *t->order_hash = e->hash;
    free(e->pool), free(e->free), free(e->seen), free(e->windows), free(e->recorded), free(e->turns);
    free(e->incarnation), free(e->traffic), free(e->flight), free(e), forget(&q);
    return delivered;
}
int64_t flood_stamped(const task *t) { return flood_with(t, STAMPED); }
int64_t flood_alive(const task *t) { return flood_with(t, ALIVE); }
int64_t flood_counted(const task *t) { return flood_with(t, COUNTED); }
int64_t flood_behind_a_door(const task *t) { return flood_with(t, BEHIND_A_DOOR); }
int64_t flood_checked(const task *t) { return flood_with(t, CHECKED); }
int64_t flood_windowed(const task *t) { return flood_with(t, WINDOWED); }
