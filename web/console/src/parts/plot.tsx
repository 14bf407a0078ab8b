/*
 * plot: one series over steps or time. uPlot draws it; the same points are a table and a CSV. The
 * arrow keys move a reading cursor; what is missing is a gap, never a zero.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { metric } from "../base/format";
import { isDark } from "../base/theme";

export interface Series {
  name: string;
  unit: string;
  x: number[];
  y: (number | null)[];
}

export interface PlotProps {
  series: Series;
  xName: string;
  zero?: boolean; // the axis of values begins at 0
  syncKey?: string;
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

type Draw = typeof uPlot;

async function load(): Promise<Draw> {
  await import("uplot/dist/uPlot.min.css");
  return (await import("uplot")).default;
}

function options(draw: Draw, props: PlotProps, width: number, read: (index: number) => void) {
  const ink = colour("--g11");
  const grid = { stroke: colour("--g5"), width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: "12px ui-monospace, monospace" };
  const made: uPlot.Options = {
    width,
    height: 220,
    legend: { show: false },
    cursor: { y: false, ...(props.syncKey ? { sync: { key: props.syncKey } } : {}) },
    scales: {
      x: { time: false },
      y: props.zero ? { range: (_u, _low, high) => [0, (high || 1) * 1.05] } : {},
    },
    series: [
      {},
      {
        stroke: colour("--ember-mark"),
        width: 1.5,
        points: { show: props.series.x.length < 40, size: 5 },
      },
    ],
    axes: [
      { ...axis, label: props.xName, labelFont: "12px sans-serif", labelSize: 20 },
      {
        ...axis,
        size: 64,
        label: props.series.unit,
        labelFont: "12px sans-serif",
        labelSize: 20,
        values: (_u, marks) => marks.map((mark) => metric(mark)),
      },
    ],
    hooks: { setCursor: [(u) => read(u.cursor.idx ?? -1)] },
  };
  return { made, draw };
}

export function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const at = useSignal(-1);
  const asTable = useSignal(false);
  const { series } = props;
  const dark = isDark.value;

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let gone = false;
    const resize = new ResizeObserver(() => {
      drawn.current?.setSize({ width: element.clientWidth, height: 220 });
    });
    void load().then((draw) => {
      if (gone) return;
      const { made } = options(draw, props, element.clientWidth, (index) => {
        at.value = index;
      });
      drawn.current = new draw(made, [series.x, series.y], element);
      resize.observe(element);
    });
    return () => {
      gone = true;
      resize.disconnect();
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [series.name, dark, asTable.value]);

  useEffect(() => {
    drawn.current?.setData([series.x, series.y]);
  }, [series]);

  const last = series.x.length - 1;
  const shown = at.value >= 0 && at.value <= last ? at.value : last;
  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key];
    if (step === undefined || !drawn.current) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(last, shown + step));
    drawn.current.setCursor({
      left: drawn.current.valToPos(series.x[next] ?? 0, "x"),
      top: 10,
    });
    at.value = next;
  };

  return (
    <figure>
      {asTable.value ? (
        <PointTable series={series} xName={props.xName} />
      ) : (
        <div
          class="plot"
          ref={box}
          tabIndex={0}
          role="img"
          onKeyDown={move}
          aria-label={`${series.name}: ${series.x.length} points, last ${value(series, last)}`}
          data-points={series.x.length}
        />
      )}
      <figcaption class="plot-text">
        <span>
          {props.xName} <b>{series.x[shown] ?? "–"}</b>
        </span>
        <span>
          {series.name} <b>{value(series, shown)}</b> {series.unit}
        </span>
        <button
          type="button"
          class="plain small"
          onClick={() => {
            asTable.value = !asTable.value;
          }}
        >
          {asTable.value ? "plot" : "table"}
        </button>
        <a class="small" download={`${series.name}.csv`} href={csv(series, props.xName)}>
          CSV
        </a>
      </figcaption>
    </figure>
  );
}

function value(series: Series, index: number): string {
  const y = series.y[index];
  return y === undefined || y === null ? "no data" : metric(y);
}

function csv(series: Series, xName: string): string {
  const lines = series.x.map((x, i) => `${x},${series.y[i] ?? ""}`);
  return `data:text/csv,${encodeURIComponent(`${xName},${series.name}\n${lines.join("\n")}\n`)}`;
}

const TABLE_ROWS_MAX = 80;

function PointTable({ series, xName }: { series: Series; xName: string }) {
  const step = Math.max(1, Math.ceil(series.x.length / TABLE_ROWS_MAX));
  const rows = series.x.map((x, i) => [x, i] as const).filter(([, i]) => i % step === 0);
  return (
    <div class="table-box" style={{ maxHeight: "220px", overflowY: "auto" }}>
      <table aria-label={series.name}>
        <thead>
          <tr>
            <th class="num" scope="col">
              {xName}
            </th>
            <th class="num" scope="col">
              {series.name}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([x, i]) => (
            <tr key={x}>
              <td class="num">{x}</td>
              <td class="num">{value(series, i)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
