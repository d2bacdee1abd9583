//! The integration tests of the library, one program; what the command shares is tested through the command.

mod joint;
mod optimize;
