/* A flood over a static graph, twice in C: a binary heap that queues every reception (the yardstick),
 * and the same heap with one entry a transmission (our own queue's idea). The event order of both is
 * (time, insertion), and its hash must equal ours.  cc -O3 -march=native -shared -fPIC */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u4;
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

typedef struct {
    double at;
    u8 order;
    u4 slot, row;
} entry;

typedef struct {
    entry *heap;
    u4 count;
    u8 order;
    message *pool;
    u4 *free, spare;
} world;

static inline int before(const entry *a, const entry *b) {
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}
static inline void push(world *w, entry e) {
    u4 i = w->count++;
    while (i > 0) {
        u4 parent = (i - 1) / 2;
        if (before(&w->heap[parent], &e)) break;
        w->heap[i] = w->heap[parent];
        i = parent;
    }
    w->heap[i] = e;
}
static inline entry pop(world *w) {
    entry top = w->heap[0], last = w->heap[--w->count];
    u4 i = 0;
    for (;;) {
        u4 child = 2 * i + 1;
        if (child >= w->count) break;
        if (child + 1 < w->count && before(&w->heap[child + 1], &w->heap[child])) child++;
        if (before(&last, &w->heap[child])) break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return top;
}
static inline u8 hashed(u8 hash, double at, u4 row, i4 event, u8 kind) {
    u8 bits;
    memcpy(&bits, &at, 8);
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
    return (hash ^ ((u8)row << 40 | (u8)(u4)event << 8 | kind)) * 0xBF58476D1CE4E5B9u;
}
static inline u4 fresh(world *w, double at, uint8_t kind, i4 source, i4 event) {
    u4 slot = w->free[--w->spare];
    memset(&w->pool[slot], 0, sizeof(message));
    w->pool[slot].at = at;
    w->pool[slot].kind = kind;
    w->pool[slot].source = source;
    w->pool[slot].event = event;
    return slot;
}

/* Events delivered; `order_hash` NULL: do not hash. delay: NULL, or one a directed link. */
int64_t flood(u4 n, const u4 *start, const i4 *who, const float *delay, double hop, double wait,
              i4 events, const i4 *publisher, const double *published, int shared, u4 slots,
              u8 *order_hash) {
    world w = {malloc(sizeof(entry) * slots), 0, 0, malloc(sizeof(message) * slots),
               malloc(4 * (size_t)slots), slots};
    uint8_t *seen = calloc(n, events);
    for (u4 s = 0; s < slots; s++) w.free[s] = slots - 1 - s;
    for (i4 e = 0; e < events; e++)
        push(&w, (entry){published[e], w.order++,
                         fresh(&w, published[e], PUBLISH, publisher[e], e), (u4)publisher[e]});
    int64_t delivered = 0;
    u8 hash = 0;
    while (w.count) {
        entry top = pop(&w);
        message *m = &w.pool[top.slot];
        u4 first = 0, last = 1;
        int broadcast = m->kind == FLOOD;
        if (shared && broadcast) first = start[m->source], last = start[m->source + 1];
        for (u4 f = first; f < last; f++) {
            u4 i = shared && broadcast ? (u4)who[f] : top.row;
            delivered++;
            if (order_hash) hash = hashed(hash, top.at, i, m->event, m->kind);
            if (m->kind == REPEAT) {
                u4 from = start[i], to = start[i + 1];
                if (shared) {
                    u4 slot = fresh(&w, top.at + hop, FLOOD, (i4)i, m->event);
                    push(&w, (entry){top.at + hop, w.order++, slot, 0});
                } else {
                    for (u4 g = from; g < to; g++) {
                        double at = top.at + (delay ? delay[g] : hop);
                        u4 slot = fresh(&w, at, FLOOD, (i4)i, m->event);
                        push(&w, (entry){at, w.order++, slot, (u4)who[g]});
                    }
                }
            } else if (!seen[(size_t)i * events + m->event]) {
                seen[(size_t)i * events + m->event] = 1;
                u4 slot = fresh(&w, top.at + wait, REPEAT, (i4)i, m->event);
                push(&w, (entry){top.at + wait, w.order++, slot, i});
            }
        }
        w.free[w.spare++] = top.slot;
    }
    if (order_hash) *order_hash = hash;
    free(w.heap), free(w.pool), free(w.free), free(seen);
    return delivered;
}
