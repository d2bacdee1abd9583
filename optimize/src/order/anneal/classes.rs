//! Orders of large generated patterns: sources in classes, one list of directions per class.
//!
//! A random order of 64 ranks is far from good, and single swaps take long to bring it close. In a grid, sources whose
//! coordinates have equal parities can send in one order of directions: a few short lists make a whole order, and are
//! annealed first (measured for 4 x 4 x 4: by (x + y) mod 2 and z mod 2, four classes, 34.3 lone messages; 2, 8 and 16
//! classes 40.8, 36.1 and 40.2, so that several are worth trying).

use weir_sim_core::api::NodeId;

use crate::order::problem::OrderProblem;

/// Which class each source is of, and which direction each of its messages goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassOrders {
    class: Vec<usize>,
    /// Per source and message: its direction.
    direction: Vec<Vec<usize>>,
    classes: usize,
    directions: usize,
}

impl ClassOrders {
    /// Classes by parities of coordinates: two sources are of one class if, for each mask, the sums of the coordinates of
    /// its axes (bit 0 is the first) are both even or both odd. The direction of a message is the difference of the
    /// coordinates of its ends. None where a device has no coordinates.
    #[must_use]
    pub fn by_parity(
        problem: &OrderProblem<'_>,
        coordinates: impl Fn(NodeId) -> Option<Vec<i64>>,
        masks: &[u32],
    ) -> Option<Self> {
        let (mut class, mut difference) = (Vec::new(), Vec::new());
        for source in &problem.sources {
            let at = coordinates(source.messages[0].from)?;
            let odd =
                |mask: u32| at.iter().enumerate().filter(|&(a, _)| mask >> a & 1 == 1).map(|(_, x)| x).sum::<i64>() & 1;
            class.push(masks.iter().enumerate().fold(0_usize, |c, (i, &mask)| c | (odd(mask) as usize) << i));
            let mut steps = Vec::new();
            for m in &source.messages {
                let (from, to) = (coordinates(m.from)?, coordinates(m.to)?);
                steps.push(to.iter().zip(&from).map(|(t, f)| t - f).collect::<Vec<i64>>());
            }
            difference.push(steps);
        }
        let mut known: Vec<&Vec<i64>> = difference.iter().flatten().collect();
        known.sort_unstable();
        known.dedup();
        let number = |step: &Vec<i64>| known.binary_search(&step).unwrap_or(0);
        let direction = difference.iter().map(|steps| steps.iter().map(number).collect()).collect();
        Some(Self { class, direction, classes: 1 << masks.len(), directions: known.len() })
    }

    /// The lists to begin with: all directions in order, for each class.
    pub(crate) fn lists(&self) -> Vec<Vec<usize>> {
        vec![(0..self.directions).collect(); self.classes]
    }

    pub(crate) fn directions(&self) -> usize {
        self.directions
    }

    /// The order that lists give: each source sends by the place of the direction in the list of its class.
    pub(crate) fn order(&self, lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let places: Vec<Vec<usize>> = lists
            .iter()
            .map(|list| {
                let mut place = vec![0; list.len()];
                list.iter().enumerate().for_each(|(at, &direction)| place[direction] = at);
                place
            })
            .collect();
        let sequence = |(class, directions): (&usize, &Vec<usize>)| {
            let mut sequence: Vec<usize> = (0..directions.len()).collect();
            sequence.sort_by_key(|&m| places[*class][directions[m]]);
            sequence
        };
        self.class.iter().zip(&self.direction).map(sequence).collect()
    }

    /// Whether it is of a problem with so many messages per source.
    pub(crate) fn fits(&self, counts: &[usize]) -> bool {
        self.direction.len() == counts.len() && self.direction.iter().zip(counts).all(|(d, &n)| d.len() == n)
    }
}
