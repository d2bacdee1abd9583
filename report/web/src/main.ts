// The page: reads its data, and puts a section for each kind of result below the other.

import { readData } from "./core/data.ts";
import { h } from "./core/dom.ts";
import { watchTheme } from "./core/theme.ts";
import { mountTip } from "./core/tip.ts";
import { footer, header, windowTitle } from "./panels/header.ts";
import { tunedSections, validatedSection } from "./panels/measured.ts";
import { runSections } from "./panels/runs.ts";
import { offerPictures } from "./panels/pictures.ts";
import { searchSection } from "./panels/search.ts";
import { sweepSection } from "./panels/sweep.ts";
import { whatIfSection } from "./panels/what-if.ts";
import { patterns } from "./timeline/bars.ts";

function start(): void {
  const app = document.getElementById("app")!;
  try {
    const data = readData();
    document.title = windowTitle(data);
    const main = h("main", {});
    app.append(patterns(), header(data), main);
    mountTip(app);
    if (data.runs.length > 0) main.append(...runSections(data.runs, data.what_ifs));
    main.append(
      ...data.searches.map(searchSection),
      ...data.sweeps.map(sweepSection),
      ...data.tuned.flatMap(tunedSections),
      ...data.validated.map(validatedSection),
      ...data.what_ifs.map(whatIfSection),
    );
    app.append(footer(data));
    offerPictures(main);
    watchTheme();
  } catch (error) {
    app.append(h("p", { class: "failed", role: "alert" }, `The report cannot be shown: ${(error as Error).message}`));
    throw error;
  }
}

start();
