//! XML that hides its depth, is cut or is none: refused at its line, without a deep stack and without reading it twice.

use crate::common::{read, sample};
use weir_import::{MOST_BYTES, Options, Refusal, import};

fn refused(text: &str) -> Refusal {
    let refusal = read(text).expect_err("is refused");
    assert!(refusal.help.is_some(), "{refusal}");
    refusal
}

/// A system with elements inside each other, with a text in front of each.
fn nested(before: &str, depth: usize) -> String {
    let open = format!("{before}<pci busid=\"0000:01:00.0\" class=\"0x060400\">").repeat(depth);
    format!("<system version=\"1\"><cpu numaid=\"0\">{open}{}</cpu></system>", "</pci>".repeat(depth))
}

#[test]
fn no_depth_can_be_hidden() {
    let pieces = [
        "<![CDATA[</pci></pci></pci>]]>",
        "<?x </pci></pci> ?>",
        "<!-- </pci></pci> -->",
        "<net a=\"</pci>\" b='/>'/>",
        "<net a='>\"/>'></net>",
        "</pci >",
    ];
    for piece in &pieces[..5] {
        let refusal = refused(&nested(piece, 60_000));
        assert!(refusal.message.contains("nest more than 200 deep"), "{piece}: {refusal}");
        assert!(refusal.line.is_some() && refusal.column.is_some());
    }
    // Tags that close too much are no XML.
    assert!(refused(&nested(pieces[5], 60_000)).message.contains("not well-formed"));
    assert!(
        !refused(&nested("", 60)).message.contains("elements nest"),
        "60 bridges are too many, 60 elements are not"
    );
}

#[test]
fn document_types() {
    let text = sample("nccl-aws-p4d-24xl-8xA100.xml");
    let with = |head: &str| format!("<?xml version=\"1.0\"?>\n{head}\n{text}");
    assert!(read(&with("<!DOCTYPE system SYSTEM \"topology[1].dtd\">")).is_ok());
    let entities = "<!DOCTYPE system [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]>";
    let refusal = refused(&with(entities));
    assert_eq!((refusal.line, refusal.column), (Some(2), Some(1)), "{refusal}");
    assert!(refusal.message.contains("definitions of its own"));
    // An entity that is not defined.
    assert!(refused("<system version=\"1\"><cpu numaid=\"&lol;\"/></system>").message.contains("not well-formed"));
}

#[test]
fn cut_anywhere() {
    for file in ["nccl-azure-nd96-a100-v4.xml", "hwloc3-power8-4xP100-nvlink.xml"] {
        let text = sample(file);
        let whole = text.trim_end().len();
        for end in (1..whole).step_by(37).chain(whole - 12..whole) {
            let refusal = refused(&text[..end]);
            let lines = 1 + text[..end].matches('\n').count() as u32;
            assert!(refusal.line.is_none_or(|line| line <= lines), "{file}, {end} bytes: {refusal}");
        }
    }
}

#[test]
fn what_is_no_text() {
    let all = |bytes: &[u8]| import(bytes, "x", &Options::default()).expect_err("is refused");
    let utf16: Vec<u8> = "<system/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(all(&utf16).message.contains("zero byte"), "without a mark");
    let marked = [&[0xff, 0xfe], utf16.as_slice()].concat();
    assert!(all(&marked).message.contains("UTF-16") && all(&marked).help.is_some_and(|help| help.contains("iconv")));
    let noise: Vec<u8> = (0..100_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    assert!(all(&noise).help.is_some());
    assert!(all(&vec![b'<'; MOST_BYTES + 1]).message.contains("32 MiB"));
    assert!(all(&vec![b'<'; 1 << 20]).help.is_some());
    assert!(all(&b"<!--".repeat(1 << 18)).help.is_some());
    let marked = [b"\xef\xbb\xbf".as_slice(), sample("nccl-aws-p4d-24xl-8xA100.xml").as_bytes()].concat();
    assert_eq!(import(&marked, "x", &Options::default()).expect("is read").counts.gpus, 8);
}

#[test]
fn many_warnings_know_their_lines() {
    // Each link has its line told; none is looked up by reading the text from its beginning.
    let links = "<nvlink target=\"0000:02:00.0\" count=\"0\"/>\n".repeat(200_000);
    let gpu = format!("<pci busid=\"0000:01:00.0\" class=\"0x030200\"><gpu dev=\"0\" sm=\"80\">\n{links}</gpu></pci>");
    let text = format!("<system version=\"1\">\n<cpu numaid=\"0\">\n{gpu}\n</cpu></system>");
    let import = read(&text).expect("is read");
    assert!(import.findings.iter().any(|f| f.message.starts_with("0000:01:00.0, line 4: ")));
    assert!(import.findings.iter().any(|f| f.message.contains("more of this kind are not shown")));
}
