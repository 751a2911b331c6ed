/* Our event queue again, in C: sim/queue.py and sim/heap.py, line by line where it matters. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u4;
typedef int64_t i8;

enum { SLOT_BITS = 28, FEW = 8, MANY = 32, MOST_BUCKETS = 1 << 16 };
#define NONE 0xFFFFFFFFu
#define ALL_NEAR ((i8)1 << 62)
#define SLOT_OF(key) ((u4)((key) & (((i8)1 << SLOT_BITS) - 1)))

typedef struct {
    double at;
    i8 key;
} due;

typedef struct {
    due *entry;
    i8 count;
} heap;

typedef struct {
    i8 entries, order, in_ring, bucket, taken, crowd, passed, far_off, patience, buckets;
    double scale, last_bucket;
    heap near, far;
    u4 run, *ring, *after;
    due *waits;
} calendar;

static inline int earlier(due a, due b) {
    return a.at < b.at || (a.at == b.at && a.key < b.key);
}
static inline void rise(heap *h, i8 i, due e) {
    while (i > 0) {
        i8 parent = (i - 1) >> 1;
        if (earlier(h->entry[parent], e)) break;
        h->entry[i] = h->entry[parent];
        i = parent;
    }
    h->entry[i] = e;
}
static inline void add(heap *h, due e) { rise(h, h->count++, e); }
static inline void drop(heap *h) {
    i8 last = --h->count, i = 0, child = 1;
    due e = h->entry[last];
    while (child < last) {
        if (child + 1 < last && earlier(h->entry[child + 1], h->entry[child])) child++;
        h->entry[i] = h->entry[child];
        i = child;
        child = 2 * i + 1;
    }
    rise(h, i, e);
}
static calendar calendar_for(u4 slots) {
    calendar q = {.bucket = ALL_NEAR, .run = NONE, .buckets = 64, .scale = 1.0};
    while (q.buckets < slots && q.buckets < MOST_BUCKETS) q.buckets *= 2;
    q.last_bucket = 4e18;
    q.near.entry = malloc(sizeof(due) * slots), q.far.entry = malloc(sizeof(due) * slots);
    q.waits = malloc(sizeof(due) * slots), q.after = malloc(sizeof(u4) * slots);
    q.ring = malloc(sizeof(u4) * q.buckets);
    memset(q.ring, 0xFF, sizeof(u4) * q.buckets);
    return q;
}
static void forget(calendar *q) {
    free(q->near.entry), free(q->far.entry), free(q->waits), free(q->after), free(q->ring);
}
static inline i8 bucket_of(const calendar *q, double at) {
    return at < q->last_bucket ? (i8)(at * q->scale) : ALL_NEAR;
}
static inline void place(calendar *q, due e, u4 slot) {
    i8 number = q->bucket == ALL_NEAR ? 0 : bucket_of(q, e.at);
    if (number <= q->bucket) {
        if (q->near.count && q->near.entry[0].at != e.at) q->crowd++;
        add(&q->near, e);
    } else if (number - q->bucket < q->buckets) {
        u4 spot = number & (q->buckets - 1), last = q->ring[spot];
        q->waits[slot] = e;
        q->in_ring++;
        q->ring[spot] = slot;
        if (last == NONE) q->after[slot] = slot;
        else q->after[slot] = q->after[last], q->after[last] = slot;
    } else {
        q->far_off++;
        add(&q->far, e);
    }
}
static inline void fetch(calendar *q) {
    while (q->far.count && bucket_of(q, q->far.entry[0].at) <= q->bucket) {
        add(&q->near, q->far.entry[0]);
        drop(&q->far);
    }
}
static inline void rescale(calendar *q, double scale, double now) {
    if (now == INFINITY) return;
    q->scale = fmax(fmin(fmin(scale, 1e15 / fmax(fabs(now), 1e-250)), 1e250), 1e-250);
    q->last_bucket = 4e18 / q->scale;
}
static u4 gathered(calendar *q) {
    u4 chain = q->run;
    q->run = NONE;
    for (i8 i = 0; i < q->near.count; i++) {
        u4 slot = SLOT_OF(q->near.entry[i].key);
        q->waits[slot] = q->near.entry[i];
        q->after[slot] = chain;
        chain = slot;
    }
    q->near.count = 0;
    for (i8 number = q->bucket + q->buckets - 1; q->in_ring; number--) {
        u4 spot = number & (q->buckets - 1), last = q->ring[spot];
        if (last == NONE) continue;
        q->ring[spot] = NONE;
        u4 first = q->after[last];
        q->after[last] = chain;
        chain = first;
        for (u4 slot = first; q->in_ring--, slot != last;) slot = q->after[slot];
    }
    return chain;
}
static void respread(calendar *q, double scale) {
    u4 chain = gathered(q);
    double earliest = q->far.count ? q->far.entry[0].at : q->waits[chain].at;
    for (u4 slot = chain; slot != NONE; slot = q->after[slot])
        earliest = fmin(earliest, q->waits[slot].at);
    rescale(q, scale, earliest);
    q->bucket = bucket_of(q, earliest);
    q->patience = q->entries + (q->buckets >> 3);
    for (u4 slot = chain, following; slot != NONE; slot = following) {
        following = q->after[slot];
        place(q, q->waits[slot], slot);
    }
    fetch(q);
    q->taken = q->crowd = q->passed = q->far_off = 0;
}
static void spread_if_worth_it(calendar *q) {
    if (q->bucket != ALL_NEAR && q->taken < q->patience) return;
    double first = q->near.entry[0].at, latest = first;
    for (i8 i = 0; i < q->near.count; i++)
        if (q->near.entry[i].at < INFINITY) latest = fmax(latest, q->near.entry[i].at);
    respread(q, latest > first ? q->near.count / fmax(latest - first, 1e-250) : q->scale);
}
static void adapt(calendar *q) {
    i8 idle = q->far_off + q->passed / 8, taken = q->taken, crowd = q->crowd;
    if (2 * (crowd > idle ? crowd : idle) < taken)
        q->taken = q->crowd = q->passed = q->far_off = 0;
    else respread(q, q->scale * (crowd > idle ? 4.0 : 0.25));
}
static inline void pour(calendar *q, u4 spot) {
    u4 last = q->ring[spot];
    if (last == NONE) return;
    q->ring[spot] = NONE;
    u4 kept = q->after[last], following;
    q->after[last] = NONE;
    q->run = kept;
    q->in_ring--;
    for (u4 slot = q->after[kept]; slot != NONE; slot = following) {
        q->in_ring--;
        following = q->after[slot];
        if (earlier(q->waits[kept], q->waits[slot])) {
            q->after[kept] = slot;
            kept = slot;
        } else {
            q->crowd += q->waits[kept].at != q->waits[slot].at;
            add(&q->near, q->waits[slot]);
        }
    }
    q->after[kept] = NONE;
}
static inline void advance(calendar *q) {
    if (q->taken >= q->patience) {
        adapt(q);
        if (q->run != NONE || q->near.count) return;
    }
    if (!q->in_ring) {
        q->bucket = ALL_NEAR;
        if (q->far.count > FEW) {
            rescale(q, q->scale, q->far.entry[0].at);
            q->bucket = bucket_of(q, q->far.entry[0].at);
        }
    } else {
        i8 number = q->bucket + 1, mask = q->buckets - 1;
        i8 limit = q->far.count ? bucket_of(q, q->far.entry[0].at) : ALL_NEAR;
        while (number < limit && q->ring[number & mask] == NONE) number++;
        q->passed += number - q->bucket;
        q->bucket = number;
        pour(q, number & mask);
    }
    fetch(q);
}
static inline int run_is_first(const calendar *q) {
    if (q->run == NONE || !q->near.count) return q->run != NONE;
    return earlier(q->waits[q->run], q->near.entry[0]);
}
static inline void enter(calendar *q, double at, i8 order, u4 slot) {
    q->entries++;
    place(q, (due){at, order << SLOT_BITS | slot}, slot);
}
static inline u4 take(calendar *q) {
    if (q->run == NONE && !q->near.count) advance(q);
    else if (q->near.count > MANY) spread_if_worth_it(q);
    u4 slot;
    q->entries--, q->taken++;
    if (run_is_first(q)) slot = q->run, q->run = q->after[slot];
    else slot = SLOT_OF(q->near.entry[0].key), drop(&q->near);
    return slot;
}
static inline int comes_first(const calendar *q, double at, i8 order) {
    due e = {at, order << SLOT_BITS};
    if (q->run != NONE && !earlier(e, q->waits[q->run])) return 0;
    if (q->near.count) return earlier(e, q->near.entry[0]);
    return q->run != NONE || bucket_of(q, at) <= q->bucket;
}
