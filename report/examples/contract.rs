//! Prints the TypeScript types of the page's data: `npm run contract` in `report/web`.

fn main() {
    print!("{}", weir_report::page::contract());
}
