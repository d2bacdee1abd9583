//! The integration tests of the library, one program; what the command shares is tested through the command.

mod events;
mod failures;
mod joint;
mod joint_twin;
mod measured;
mod optimize;
mod regions;
mod what_if;
