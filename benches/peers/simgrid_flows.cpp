// The peer of the benchmark: the workloads of gen.py on SimGrid, as flows that share links by max-min fairness and nothing
// else. Not part of weir itself and linked to nothing of it; built and run by run.py, see README.md in this folder.
//
// Pure flow-level max-min benchmark on SimGrid (Debian libsimgrid-dev, 3.32).
//   g++ -O2 -std=c++17 simgrid_flows.cpp -lsimgrid -o simgrid_flows
//   ./simgrid_flows WORKLOAD [-o completions.txt] [--cfg=...]
// TCP effects are off: CM02, no gamma, no weight-S, no cross-traffic, zero latency.
#include <simgrid/s4u.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <sys/resource.h>
#include <vector>
namespace sg4 = simgrid::s4u;
struct Flow { int src, dst; uint64_t size; double start; };
static double cpu() { rusage r; getrusage(RUSAGE_SELF, &r); return r.ru_utime.tv_sec + r.ru_utime.tv_usec * 1e-6 + r.ru_stime.tv_sec + r.ru_stime.tv_usec * 1e-6; }

int main(int argc, char** argv)
{
  std::vector<std::string> base = {argv[0],
    "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0", "--cfg=network/weight-S:0",
    "--cfg=network/crosstraffic:0", "--cfg=network/bandwidth-factor:1", "--cfg=network/latency-factor:1",
    "--cfg=network/loopback-lat:0", "--log=root.thres:warning"};
  std::string wl, out;
  for (int i = 1; i < argc; i++) {
    std::string a = argv[i];
    if (a == "-o") out = argv[++i];
    else if (a.rfind("--", 0) == 0) base.push_back(a);
    else wl = a;
  }
  std::vector<char*> av; for (auto& s : base) av.push_back(s.data());
  int ac = av.size(); av.push_back(nullptr);
  sg4::Engine e(&ac, av.data());

  std::ifstream in(wl); int n, m; in >> n >> m;
  std::vector<int> parent(n, -1), depth(n, 0), kids(n, 0); std::vector<double> up(n), down(n);
  for (int i = 1; i < n; i++) { in >> parent[i] >> up[i] >> down[i]; depth[i] = depth[parent[i]] + 1; kids[parent[i]]++; }
  std::vector<Flow> fl(m);
  for (auto& f : fl) in >> f.src >> f.dst >> f.size >> f.start;

  auto* z = sg4::create_full_zone("z");
  std::vector<sg4::Host*> host(n, nullptr);
  std::vector<sg4::Link*> lu(n), ld(n);
  for (int i = 1; i < n; i++) {
    if (!kids[i]) host[i] = z->create_host("h" + std::to_string(i), 1e9);
    lu[i] = z->create_link("u" + std::to_string(i), up[i])->set_latency(0.0);
    ld[i] = z->create_link("d" + std::to_string(i), down[i])->set_latency(0.0);
  }
  std::map<std::pair<int, int>, bool> seen;           // only the routes that are used
  for (auto& f : fl) {
    if (seen.count({f.src, f.dst})) continue;
    seen[{f.src, f.dst}] = true;
    std::vector<const sg4::Link*> a, b; int s = f.src, d = f.dst;
    while (s != d) { if (depth[s] >= depth[d]) { a.push_back(lu[s]); s = parent[s]; } else { b.push_back(ld[d]); d = parent[d]; } }
    a.insert(a.end(), b.rbegin(), b.rend());
    z->add_route(host[f.src]->get_netpoint(), host[f.dst]->get_netpoint(), nullptr, nullptr, std::vector<sg4::LinkInRoute>(a.begin(), a.end()), false);
  }
  z->seal();
  std::vector<int> ord(m); for (int i = 0; i < m; i++) ord[i] = i;
  std::stable_sort(ord.begin(), ord.end(), [&](int a, int b) { return fl[a].start < fl[b].start; });
  std::vector<double> fin(m, -1);
  int h0 = fl[0].src;
  sg4::Actor::create("inj", host[h0], [&] {
    std::vector<sg4::CommPtr> c(m);
    for (int i : ord) {
      double now = sg4::Engine::get_clock();
      if (fl[i].start > now) sg4::this_actor::sleep_until(fl[i].start);
      c[i] = sg4::Comm::sendto_async(host[fl[i].src], host[fl[i].dst], fl[i].size);
    }
    for (int i : ord) { c[i]->wait(); fin[i] = c[i]->get_finish_time(); c[i] = nullptr; }
  });
  double c0 = cpu(); auto t0 = std::chrono::steady_clock::now();
  e.run();
  double w = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count(), c1 = cpu() - c0;
  double sum = 0, mk = 0; for (int i = 0; i < m; i++) { sum += fin[i] - fl[i].start; mk = std::max(mk, fin[i]); }
  rusage r; getrusage(RUSAGE_SELF, &r);
  printf("simgrid flows=%d wall=%.4f cpu=%.4f flows/s=%.0f rss_MiB=%.0f meanconc=%.1f makespan=%.9g\n", m, w, c1, m / w, r.ru_maxrss / 1024.0, sum / mk, mk);
  if (!out.empty()) { FILE* f = fopen(out.c_str(), "w"); for (double t : fin) fprintf(f, "%.17g\n", t); fclose(f); }
}
