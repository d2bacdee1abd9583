//! DLLPs of runs packet by packet, through the whole command.

use crate::packets::{ended, ends, result, t2};

/// A stream one way: DLLPs alone are on the opposite links, one for each of 39063 packets, of 8 B at 15.753846153 GB/s.
#[test]
fn acknowledgements_take_time_on_the_opposite_link() {
    let one_way = [("a", "gpu0", "gpu1")];
    let result_with = result(&t2("dllp: 8B", &one_way));
    assert_eq!(ends(&result_with), [694_499_161], "nothing is beside it");
    let links = result_with["links"].as_array().expect("a list");
    assert_eq!(links.len(), 4);
    let back = links.iter().find(|link| link["from"] == "gpu1").expect("it carries DLLPs");
    assert_eq!((&back["bytes"], &back["dllps"]), (&0.into(), &39063.into()), "{back}");
    // The last one begins as the run ends.
    assert_eq!(back["busy_s"], (39062 * 508) as f64 / 1e12);
    let both_ways = [("a", "gpu0", "gpu1"), ("b", "gpu1", "gpu0")];
    let [free, with] = ["", "dllp: 8B"].map(|keys| ends(&result(&t2(keys, &both_ways)))[0] as f64);
    assert!((with / free - 288.0 / 280.0).abs() < 1e-4, "{with} over {free}");
    let refused = ended(&t2("dllp: 5KiB", &one_way), &["run", "s.yaml"]);
    assert!(refused.code == 2 && refused.stderr.contains("no DLLP has 5KiB"), "{}", refused.stderr);
}

/// Nobody looks at a link on which DLLPs follow an idle moment before a wait is explained: who sent before that moment is no
/// reason for it, with skipping and without.
#[test]
fn an_idle_moment_before_dllps_ends_the_blame_of_who_sent_before() {
    let waits = [true, false].map(|skips| {
        let text = format!(
            "weir: 1
fidelity: {{ packet: {{ skip_ahead: {skips} }} }}
topology:
  link_types:
    a: {{ bandwidth: 15.753846153GB/s, latency: 100ns, packet: {{ dllp: 8B }} }}
    b: {{ bandwidth: 10GB/s, latency: 100ns, packet: {{ payload: 64B, credits: {{ header: 16, data: 2KiB }} }} }}
  tree:
    rc:
      kind: root-complex
      children:
        gpu0: {{ kind: gpu, link: b }}
        s0:
          kind: switch
          link: a
          children:
            gpu1: {{ kind: gpu, link: b }}
            s1:
              kind: switch
              link: b
              children:
                gpu2: {{ kind: gpu, link: b }}
                s2: {{ kind: switch, link: a, children: {{ gpu3: {{ kind: gpu, link: a }} }} }}
workload:
  - transfer: {{ from: gpu3, to: gpu2, size: 100kB }}
  - transfer: {{ from: gpu1, to: gpu3, size: 20MB, limit: 2.5GB/s }}
  - transfer: {{ from: gpu0, to: gpu1, size: 777B }}
  - transfer: {{ from: gpu0, to: gpu3, size: 1MB }}
"
        );
        result(&text)["transfers"].clone()
    });
    assert_eq!(waits[0], waits[1]);
}
