//! Which routes `pcie-congestion` takes.

use weir_plugin_api::{CallError, Direction, LinkId};

use crate::common::ports::Port;

/// Routes must climb, take at most one lateral link, and descend.
pub(super) fn admit(ports: &[Port], route: &[LinkId]) -> Result<(), CallError> {
    let mut before = Direction::Up;
    for &link in route {
        let direction = ports[link.index()].direction;
        let problem = match (before, direction) {
            (Direction::Down, Direction::Up) => "goes up again after it came down",
            (Direction::Down, Direction::Lateral) => "takes a lateral link after it came down",
            (Direction::Lateral, Direction::Up) => "goes up after a lateral link",
            (Direction::Lateral, Direction::Lateral) => "takes more than one lateral link",
            _ => {
                before = direction;
                continue;
            }
        };
        return Err(CallError::Refused(format!(
            "the route {problem}: `pcie-congestion` is defined inside one tree (up, at most one lateral link, down)"
        )));
    }
    Ok(())
}
