/* A flood over a static graph in C: a binary heap that queues every reception (the yardstick), a
 * calendar that queues every reception, and our own idea, a calendar of transmissions. All deliver in
 * the order (time, insertion), whose hash must equal ours.  cc -O3 -march=native -shared -fPIC */
#include "calendar.h"

typedef uint64_t u8;
typedef int32_t i4;

/* The whole record, as ours: what a reception carries through the queue. */
typedef struct {
    double at;
    uint8_t kind, flags;
    uint16_t hops;
    i4 source, target, next, topic, event, args[8];
    double reals[6];
} message;

enum { PUBLISH = 1, FLOOD = 2, REPEAT = 3 };

/* delay: NULL, or one a directed link [m]. turn: within a row, places by delay [m]; for a delay a link
 * in `flood_by_transmission`. order_hash NULL: do not hash. held: bytes that were in use at most. */
typedef struct {
    u4 n;
    const u4 *start;
    const i4 *who;
    const float *delay;
    const u4 *turn;
    double hop, wait;
    i4 events;
    const i4 *publisher;
    const double *published;
    u4 slots;
    u8 *order_hash, *held;
} task;

typedef struct {
    message *pool;
    u4 *free, spare, least;
    uint8_t *seen;
    u8 hash;
} world;

static world world_of(const task *t) {
    world w = {malloc(sizeof(message) * t->slots), malloc(4 * (size_t)t->slots), t->slots, t->slots,
               calloc(t->n, t->events), 0};
    for (u4 s = 0; s < t->slots; s++) w.free[s] = t->slots - 1 - s;
    return w;
}
static int64_t finished(const task *t, world *w, int64_t delivered, size_t a_slot, size_t fixed) {
    if (t->order_hash) *t->order_hash = w->hash;
    if (t->held)
        *t->held = (t->slots - w->least) * (sizeof(message) + 4 + a_slot) + fixed +
                   (size_t)t->n * t->events + 4 * ((size_t)t->n + 1 + t->start[t->n]) +
                   (t->delay ? 4 : 0) * (size_t)t->start[t->n];
    free(w->pool), free(w->free), free(w->seen);
    return delivered;
}
static inline void hear(const task *t, world *w, double at, u4 row, i4 event, u8 kind) {
    if (!t->order_hash) return;
    u8 bits;
    memcpy(&bits, &at, 8);
    w->hash = (w->hash ^ bits) * 0x9E3779B97F4A7C15u;
    w->hash = (w->hash ^ ((u8)row << 40 | (u8)(u4)event << 8 | kind)) * 0xBF58476D1CE4E5B9u;
}
static inline u4 fresh(world *w, double at, uint8_t kind, i4 source, i4 next, i4 event) {
    u4 slot = w->free[--w->spare];
    if (w->spare < w->least) w->least = w->spare;
    memset(&w->pool[slot], 0, sizeof(message));
    w->pool[slot].at = at;
    w->pool[slot].kind = kind;
    w->pool[slot].source = source;
    w->pool[slot].next = next;
    w->pool[slot].event = event;
    return slot;
}
static inline int first_time(const task *t, world *w, u4 row, i4 event) {
    uint8_t *seen = &w->seen[(size_t)row * t->events + event];
    return *seen ? 0 : (*seen = 1);
}

/* The yardstick: the textbook's heap, one entry of 24 bytes a reception. */
typedef struct {
    double at;
    u8 order;
    u4 slot, row;
} entry;

static inline int before(const entry *a, const entry *b) {
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}
static inline void push(entry *h, u4 i, entry e) {
    while (i > 0) {
        u4 parent = (i - 1) / 2;
        if (before(&h[parent], &e)) break;
        h[i] = h[parent];
        i = parent;
    }
    h[i] = e;
}
static inline entry pop(entry *h, u4 count) {
    entry top = h[0], last = h[count];
    u4 i = 0;
    for (;;) {
        u4 child = 2 * i + 1;
        if (child >= count) break;
        if (child + 1 < count && before(&h[child + 1], &h[child])) child++;
        if (before(&last, &h[child])) break;
        h[i] = h[child];
        i = child;
    }
    h[i] = last;
    return top;
}
int64_t flood_by_heap(const task *t) {
    world w = world_of(t);
    entry *h = malloc(sizeof(entry) * t->slots);
    u4 count = 0;
    u8 order = 0;
    int64_t delivered = 0;
    for (i4 e = 0; e < t->events; e++, count++)
        push(h, count, (entry){t->published[e], order++,
                               fresh(&w, t->published[e], PUBLISH, t->publisher[e], -1, e),
                               (u4)t->publisher[e]});
    while (count) {
        entry top = pop(h, --count);
        message *m = &w.pool[top.slot];
        u4 i = top.row;
        delivered++;
        hear(t, &w, top.at, i, m->event, m->kind);
        if (m->kind == REPEAT) {
            for (u4 g = t->start[i]; g < t->start[i + 1]; g++, count++) {
                double at = top.at + (t->delay ? t->delay[g] : t->hop);
                u4 slot = fresh(&w, at, FLOOD, (i4)i, t->who[g], m->event);
                push(h, count, (entry){at, order++, slot, (u4)t->who[g]});
            }
        } else if (first_time(t, &w, i, m->event)) {
            u4 slot = fresh(&w, top.at + t->wait, REPEAT, (i4)i, (i4)i, m->event);
            push(h, count++, (entry){top.at + t->wait, order++, slot, i});
        }
        w.free[w.spare++] = top.slot;
    }
    free(h);
    return finished(t, &w, delivered, sizeof(entry), 0);
}

/* What hearing a record makes a node do, where the queue is a calendar. */
static inline void react(const task *t, world *w, calendar *q, u4 i, const message *m) {
    if (!first_time(t, w, i, m->event)) return;
    double at = m->at + t->wait;
    enter(q, at, q->order++, fresh(w, at, REPEAT, (i4)i, (i4)i, m->event));
}
static void begin(const task *t, world *w, calendar *q) {
    for (i4 e = 0; e < t->events; e++) {
        u4 slot = fresh(w, t->published[e], PUBLISH, t->publisher[e], t->publisher[e], e);
        enter(q, t->published[e], q->order++, slot);
    }
}
static const size_t a_slot = 3 * sizeof(due) + sizeof(u4);

int64_t flood_by_calendar(const task *t) {
    world w = world_of(t);
    calendar q = calendar_for(t->slots);
    int64_t delivered = 0;
    begin(t, &w, &q);
    while (q.entries) {
        u4 slot = take(&q), i;
        message *m = &w.pool[slot];
        i = (u4)m->next;
        delivered++;
        hear(t, &w, m->at, i, m->event, m->kind);
        if (m->kind == REPEAT) {
            for (u4 g = t->start[i]; g < t->start[i + 1]; g++) {
                double at = m->at + (t->delay ? t->delay[g] : t->hop);
                enter(&q, at, q.order++, fresh(&w, at, FLOOD, (i4)i, t->who[g], m->event));
            }
        } else react(t, &w, &q, i, m);
        w.free[w.spare++] = slot;
    }
    forget(&q);
    return finished(t, &w, delivered, a_slot, sizeof(u4) * q.buckets);
}

typedef struct {
    double departed;
    i8 order;
    u4 cursor;
} flight;

/* Let those hear a broadcast whose turn has come; 1 when all have. */
static inline int spoken(const task *t, world *w, calendar *q, flight *f, u4 slot, int64_t *delivered) {
    message *m = &w->pool[slot];
    u4 first = t->start[m->source], last = t->start[m->source + 1];
    for (u4 cursor = f[slot].cursor;;) {
        u4 i = (u4)t->who[t->delay ? t->turn[first + cursor] : first + cursor];
        ++*delivered;
        hear(t, w, m->at, i, m->event, m->kind);
        react(t, w, q, i, m);
        if (first + ++cursor >= last) return 1;
        if (!t->delay) continue;
        u4 place_next = t->turn[first + cursor];
        m->at = f[slot].departed + t->delay[place_next];
        i8 order = f[slot].order + (place_next - first);
        if (!comes_first(q, m->at, order)) {
            f[slot].cursor = cursor;
            enter(q, m->at, order, slot);
            return 0;
        }
    }
}
int64_t flood_by_transmission(const task *t) {
    world w = world_of(t);
    calendar q = calendar_for(t->slots);
    flight *f = malloc(sizeof(flight) * t->slots);
    int64_t delivered = 0;
    begin(t, &w, &q);
    while (q.entries) {
        u4 slot = take(&q);
        message *m = &w.pool[slot];
        if (m->kind == FLOOD) {
            if (!spoken(t, &w, &q, f, slot, &delivered)) continue;
        } else {
            u4 i = (u4)m->next;
            delivered++;
            hear(t, &w, m->at, i, m->event, m->kind);
            if (m->kind == PUBLISH) react(t, &w, &q, i, m);
            else if (t->start[i] < t->start[i + 1]) {
                u4 first = t->start[i], to = t->delay ? t->turn[first] : first;
                double at = m->at + (t->delay ? t->delay[to] : t->hop);
                u4 sent = fresh(&w, at, FLOOD, (i4)i, -1, m->event);
                f[sent] = (flight){m->at, q.order, 0};
                q.order += t->start[i + 1] - first;
                enter(&q, at, f[sent].order + (to - first), sent);
            }
        }
        w.free[w.spare++] = slot;
    }
    free(f), forget(&q);
    return finished(t, &w, delivered, a_slot + sizeof(flight), sizeof(u4) * q.buckets);
}
