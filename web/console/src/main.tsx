/* main: signs in, chooses the page, draws it. */
import "./style/tokens.css";
import "./style/base.css";
import "./style/layout.css";
import "./style/parts.css";
import { effect, signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { render } from "preact";
import { turnedAway } from "./base/api";
import { goLive } from "./base/live";
import { match, navigate, path, startRouter } from "./base/router";
import { isOperator, me, resume } from "./base/session";
import "./base/theme";
import { Artifacts } from "./pages/artifacts";
import { Home } from "./pages/home";
import { InvoicePage } from "./pages/invoice";
import { JobPage } from "./pages/job";
import { Jobs } from "./pages/jobs";
import { Keys } from "./pages/keys";
import { Login } from "./pages/login";
import { NodePage, Nodes } from "./pages/nodes";
import { Region } from "./pages/region";
import { Submit } from "./pages/submit";
import { Usage } from "./pages/usage";
import { Shell } from "./parts/shell";

const PAGES: [string, string, FunctionComponent<{ id: string }>][] = [
  ["/", "Home", Home],
  ["/jobs", "Jobs", Jobs],
  ["/jobs/:id", "Job", JobPage],
  ["/submit", "Submit", Submit],
  ["/artifacts", "Artifacts", Artifacts],
  ["/usage", "Usage", Usage],
  ["/invoices/:id", "Invoice", InvoicePage],
  ["/keys", "Keys", Keys],
  ["/ops", "Region", Region],
  ["/ops/nodes", "Nodes", Nodes],
  ["/ops/nodes/:id", "Node", NodePage],
];

const ready = signal(false);

function Nowhere() {
  return (
    <div class="say">
      <h1>There is no such page</h1>
      <a href={isOperator() ? "/ops" : "/"}>to the first page</a>
    </div>
  );
}

function Console() {
  if (!ready.value) return null;
  if (path.value === "/login" || !me.value || turnedAway.value) return <Login />;
  for (const [pattern, , Page] of PAGES) {
    const found = match(pattern, path.value);
    if (found)
      return (
        <Shell>
          <Page id={found["id"] ?? ""} key={path.value} />
        </Shell>
      );
  }
  return (
    <Shell>
      <Nowhere />
    </Shell>
  );
}

effect(() => {
  const page = PAGES.find(([pattern]) => match(pattern, path.value));
  document.title = page ? `${page[1]} · Cresset` : "Cresset";
});

effect(() => {
  if (me.value) goLive();
});

startRouter();
void resume().then((known) => {
  ready.value = true;
  if (known && isOperator() && path.value === "/") navigate("/ops", { replace: true });
});
const root = document.getElementById("console");
if (root) render(<Console />, root);
