/*
 * list: a table of what the server serves, in the five states that a list can be in: loading,
 * empty, filtered to nothing, failed (old rows stay, greyed), forbidden. A page has 50 rows.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { navigate, query, withQuery } from "../base/router";
import { type Held, type Page, refresh } from "../base/store";
import { Age, FaultBox } from "./fault";

export interface Column<T> {
  head: string;
  cell: (row: T) => ComponentChildren;
  numeric?: boolean;
}

export interface Filter {
  name: string; // of the query
  value: string;
}

export interface ListProps<T> {
  label: string;
  url: string;
  held: Held<Page<T>>;
  columns: Column<T>[];
  rowKey: (row: T) => string;
  filters?: Filter[];
  empty: ComponentChildren;
}

export function List<T>(props: ListProps<T>) {
  const { held, filters = [] } = props;
  const slow = useSlow(held.data === undefined && held.problem === undefined);
  const rows = held.data?.data ?? [];
  const retry = () => void refresh(props.url);

  if (held.problem && (held.problem.status === 403 || !held.data))
    return <FaultBox problem={held.problem} retry={retry} />;
  if (!held.data) return slow ? <Skeleton columns={props.columns.length} /> : <div class="say" />;
  if (rows.length === 0 && filters.length > 0) return <Filtered filters={filters} />;
  if (rows.length === 0 && !query.value.has("after")) return <div class="say">{props.empty}</div>;
  return (
    <>
      {held.problem && <FaultBox problem={held.problem} retry={retry} />}
      <div class="table-box">
        <table aria-label={props.label} aria-rowcount={-1}>
          <thead>
            <tr>
              {props.columns.map((column) => (
                <th key={column.head} class={column.numeric ? "num" : ""} scope="col">
                  {column.head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={props.rowKey(row)} class={held.problem ? "stale" : ""}>
                {props.columns.map((column) => (
                  <td key={column.head} class={column.numeric ? "num" : ""}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pager next={held.data.next_after} at={held.at} />
    </>
  );
}

function Pager({ next, at }: { next: string | null; at: number }) {
  const paged = query.value.has("after");
  if (!next && !paged)
    return (
      <div class="chips">
        <Age at={at} />
      </div>
    );
  return (
    <nav class="chips" aria-label="Pages" style={{ padding: "8px 12px" }}>
      {paged && (
        <button type="button" onClick={() => history.back()}>
          Newer
        </button>
      )}
      {next && (
        <button type="button" onClick={() => navigate(withQuery({ after: next }))}>
          Older
        </button>
      )}
      <Age at={at} />
    </nav>
  );
}

function Filtered({ filters }: { filters: Filter[] }) {
  const none = Object.fromEntries(filters.map((filter) => [filter.name, null]));
  return (
    <div class="say">
      <h3>Nothing fits these filters</h3>
      <div class="chips">
        {filters.map((filter) => (
          <a class="chip" key={filter.name} href={withQuery({ [filter.name]: null, after: null })}>
            {filter.name}: {filter.value} ✕<span class="sr">clear</span>
          </a>
        ))}
        <a href={withQuery({ ...none, after: null })}>clear all</a>
      </div>
    </div>
  );
}

function Skeleton({ columns }: { columns: number }) {
  const rows = Array.from({ length: 6 }, (_, i) => i);
  const cells = Array.from({ length: columns }, (_, i) => i);
  return (
    <table class="skeleton" aria-busy="true" aria-label="loading">
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            {cells.map((cell) => (
              <td key={cell}>
                <span />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/* True once waiting has lasted 200 ms: what is quick does not flicker. */
function useSlow(waiting: boolean): boolean {
  const slow = useSignal(false);
  useEffect(() => {
    if (!waiting) {
      slow.value = false;
      return;
    }
    const timer = setTimeout(() => {
      slow.value = true;
    }, 200);
    return () => clearTimeout(timer);
  }, [waiting]);
  return slow.value;
}
