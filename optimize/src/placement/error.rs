//! Why a placement cannot be searched for.

/// Why a placement cannot be searched for. Ranks are numbered in the pattern's order, devices in the order of the list
/// of devices; both count from 0.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// A map is a bijection: every rank needs a device of its own.
    #[error("{ranks} ranks do not fit on {devices} devices; list at least {ranks} devices")]
    TooFewDevices {
        /// Ranks of the pattern.
        ranks: usize,
        /// Devices that may be chosen.
        devices: usize,
    },
    /// More devices than the tables of the search can hold.
    #[error("{devices} devices are more than the {most} that a placement can be searched on; list fewer devices")]
    TooManyDevices {
        /// Devices that may be chosen.
        devices: usize,
        /// Most devices that a search takes.
        most: usize,
    },
    /// The same device twice.
    #[error("device {second} is device {first} again; list each device once")]
    DeviceTwice {
        /// Position of its first mention.
        first: usize,
        /// Position of its second mention.
        second: usize,
    },
    /// A message between ranks that the pattern does not have.
    #[error("a message names rank {rank}, but there are {ranks} ranks, numbered from 0")]
    NoSuchRank {
        /// The rank that the message names.
        rank: usize,
        /// Ranks of the pattern.
        ranks: usize,
    },
    /// Weights are counted in units of so many bytes.
    #[error("the unit of the weights must be at least 1 byte")]
    NoUnit,
    /// A cost that is not a finite number, or below zero.
    #[error("the cost {cost} is not a finite number of at least 0")]
    Cost {
        /// The cost as given.
        cost: f64,
    },
    /// Two devices are farther apart than the costs reach.
    #[error(
        "{given} costs per level are given, but two devices are {needed} levels apart; give {needed} costs, closest first"
    )]
    TooFewLevelCosts {
        /// Costs given.
        given: usize,
        /// Costs needed.
        needed: usize,
    },
    /// A matrix must have a row and a column for each device.
    #[error("row {row} of the matrix has {found} values, but there are {devices} devices")]
    MatrixShape {
        /// The first wrong row; the number of rows if that is wrong.
        row: usize,
        /// Values found there.
        found: usize,
        /// Devices.
        devices: usize,
    },
    /// Latency and bandwidth are properties of routes.
    #[error("no route joins devices {first} and {second}; join them by links, or use the objective `distance`")]
    NoRoute {
        /// A device.
        first: usize,
        /// Another device, out of reach of the first.
        second: usize,
    },
    /// Every placement would cost nothing.
    #[error(
        "no route between the devices has a latency, so every placement costs 0; give links a `latency` or measured \
         latencies as `matrix`, or use the objective `distance`"
    )]
    NoLatencies,
    /// The sums would not fit the widest integers.
    #[error("the weights and costs are too large to be added exactly; use a larger `unit` or smaller costs")]
    TooLarge,
    /// A placement that is given must put each rank on a device of its own.
    #[error("the placement to start from puts rank {rank} on device {device}, which does not exist or is taken")]
    BadStart {
        /// The first rank that is wrong.
        rank: usize,
        /// Its device.
        device: usize,
    },
    /// A placement that is given must place all ranks.
    #[error("the placement to start from has {given} devices for {ranks} ranks; give one for each rank")]
    ShortStart {
        /// Devices given.
        given: usize,
        /// Ranks of the pattern.
        ranks: usize,
    },
    /// Exact search was asked for where it is not possible.
    #[error(
        "no exact search here: it needs the costs of a tree and few ranks (16 on 16 devices at most), or at most 10^7 \
         placements; use bisection"
    )]
    NotExact,
}
