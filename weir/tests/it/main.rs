//! The integration tests of the library, one program; what the command shares is tested through the command.

mod alone;
mod both_ways;
mod calibration;
mod events;
mod failures;
mod joint;
mod joint_bounds;
mod joint_tried;
mod joint_twin;
mod measured;
mod optimize;
mod optimize_settings;
mod placements;
mod regions;
mod runs;
mod what_if;
mod what_if_changes;
mod widening;
