//! Hold model (pop the first, schedule one later), beside `BinaryHeap`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_sim_core::api::SimTime;
use weir_sim_core::{EventPhase, EventQueue, TaskEvent, TaskId};

/// Operations per measured iteration.
const OPERATIONS: u32 = 1000;

fn filled(pending: u32, random: &mut ChaCha8Rng) -> EventQueue {
    let mut queue = EventQueue::default();
    for id in 0..pending {
        queue.schedule(SimTime(u64::from(random.next_u32())), TaskEvent::Over(TaskId(id)));
    }
    queue
}

fn hold(c: &mut Criterion) {
    let mut group = c.benchmark_group("event-queue");
    group.throughput(criterion::Throughput::Elements(u64::from(OPERATIONS)));
    for pending in [1_000, 100_000, 1_000_000] {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let queue = filled(pending, &mut random);
        group.bench_with_input(BenchmarkId::new("hold", pending), &queue, |b, queue| {
            let mut queue = queue.clone();
            b.iter(|| {
                for _ in 0..OPERATIONS {
                    let time = queue.next_time();
                    let event = queue.pop_due(time, EventPhase::Completion).expect("never empty");
                    queue.schedule(SimTime(time.0 + u64::from(random.next_u32())), event);
                }
            });
        });
        let heap: BinaryHeap<Reverse<(u64, u32)>> =
            (0..pending).map(|id| Reverse((u64::from(random.next_u32()), id))).collect();
        group.bench_with_input(BenchmarkId::new("hold-binary-heap", pending), &heap, |b, heap| {
            b.iter_batched_ref(
                || heap.clone(),
                |heap| {
                    for _ in 0..OPERATIONS {
                        let Reverse((time, id)) = heap.pop().expect("never empty");
                        heap.push(Reverse((time + u64::from(random.next_u32()), id)));
                    }
                    black_box(heap.len())
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
