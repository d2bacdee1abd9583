//! The page's types in TypeScript are those that write its data.

#[test]
fn the_contract_of_the_page_is_current() {
    let written = include_str!("../../web/src/contract.ts");
    let made = weir_report::page::contract();
    assert!(written == made, "run `npm run contract` in report/web; it makes:\n{made}");
}
