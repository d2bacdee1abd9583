//! The table of ratios, the growth of the times, and the CSV of all figures.

use std::path::Path;

use crate::load::Load;

/// What was measured of one load; CPU seconds.
pub struct Row {
    pub load: Load,
    pub hosts: usize,
    /// SimGrid's better mode.
    pub simgrid: Option<f64>,
    /// The arbiter, phase by phase.
    pub plain: Option<f64>,
    pub own: f64,
}

/// All rows so far; each is printed when it is added.
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Prints the head.
    pub fn begin() -> Self {
        println!("| load | SimGrid, s | phase by phase, s | weir, s | us per transfer | times faster | wanted | |");
        println!("|---|---|---|---|---|---|---|---|");
        Self { rows: Vec::new() }
    }

    /// Prints a row and keeps it.
    pub fn add(&mut self, row: Row) {
        let seconds = |time: Option<f64>| time.map_or(String::new(), |t| format!("{t:.4}"));
        let Load { name, must, on_simgrid, transfers, .. } = row.load;
        let ratio = row.simgrid.map(|theirs| theirs / row.own);
        let (wanted, met) = match ratio {
            Some(ratio) => (format!("{must} times"), Some(ratio >= must)),
            None if on_simgrid => (format!("{must} times"), None),
            None => (format!("{must} s"), Some(row.own <= must)),
        };
        let met = met.map_or("", |met| if met { "met" } else { "**not met**" });
        let ratio = ratio.map_or(String::new(), |r| format!("{r:.1}"));
        let each = row.own / transfers as f64 * 1e6;
        let (theirs, plain, own) = (seconds(row.simgrid), seconds(row.plain), seconds(Some(row.own)));
        println!("| {name} | {theirs} | {plain} | {own} | {each:.2} | {ratio} | {wanted} | {met} |");
        self.rows.push(row);
    }

    /// Prints how the time grows with the number of transfers that start at once: the exponent of the line through the
    /// logarithms, by least squares.
    pub fn growth(&self) {
        for hosts in [8, 1024] {
            let points = self.rows.iter().filter(|r| r.load.at_once && r.hosts == hosts);
            let points: Vec<(f64, f64)> = points.map(|r| ((r.load.transfers as f64).ln(), r.own.ln())).collect();
            if points.len() < 3 {
                continue;
            }
            let count = points.len() as f64;
            let mean = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
            let (mut xy, mut xx) = (0.0, 0.0);
            for (x, y) in &points {
                xy += (x - mean.0) * (y - mean.1);
                xx += (x - mean.0) * (x - mean.0);
            }
            println!("t0 on {hosts} hosts: time grows as N^{:.2} over {} sizes (wanted: 1.2)", xy / xx, points.len());
        }
    }

    /// Writes all figures.
    pub fn write_csv(&self, path: &Path) {
        let mut text = "load,hosts,transfers,at_once,simgrid_s,phase_by_phase_s,weir_s\n".to_owned();
        for row in &self.rows {
            let seconds = |time: Option<f64>| time.map_or(String::new(), |t| t.to_string());
            let Load { name, transfers, at_once, .. } = row.load;
            let (theirs, plain) = (seconds(row.simgrid), seconds(row.plain));
            text += &format!("{name},{},{transfers},{at_once},{theirs},{plain},{}\n", row.hosts, row.own);
        }
        std::fs::write(path, text).expect("the target folder can be written");
        println!("all figures: {}", path.display());
    }
}
