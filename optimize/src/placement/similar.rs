//! A hierarchy for machines that are no trees: devices that are close to each other stay together.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::bisect::bisect;
use super::coarsen::Graph;
use super::matrix::Matrix;
use super::tree::Shape;

/// Attempts per cut; *assumed*.
const ATTEMPTS: u32 = 2;

/// Halves the devices again and again; the closer two devices, the heavier the edge (largest cost − cost) that a cut
/// should leave whole.
pub(super) fn shape(matrix: &Matrix) -> Shape {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let devices: Vec<u32> = (0..matrix.devices() as u32).collect();
    halves(matrix, matrix.largest(), &devices, &mut rng)
}

fn halves(matrix: &Matrix, largest: u128, devices: &[u32], rng: &mut ChaCha8Rng) -> Shape {
    if let [device] = devices {
        return Shape::Device(*device);
    }
    let mut graph = Graph::<i128>::new();
    for &a in devices {
        let closeness = |&b: &u32| (largest - matrix.at(a as usize, b as usize)) as i128;
        graph.add(1, devices.iter().enumerate().filter(|&(_, &b)| a != b).map(|(i, b)| (i as u32, closeness(b))));
    }
    let side = bisect(&graph, devices.len() / 2, ATTEMPTS, rng);
    let part = |second| devices.iter().zip(&side).filter(|&(_, &s)| s == second).map(|(&d, _)| d).collect::<Vec<_>>();
    let (first, second) = (part(false), part(true));
    if first.is_empty() {
        return Shape::Node(Vec::new());
    }
    Shape::Node(vec![halves(matrix, largest, &first, rng), halves(matrix, largest, &second, rng)])
}
