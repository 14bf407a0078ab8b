/* palette: Ctrl K reaches pages and whatever has an id. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { navigate } from "../base/router";
import { isOperator, may } from "../base/session";
import { OPERATOR_PLACES, TENANT_PLACES } from "./shell";

interface Target {
  word: string;
  href: string;
}

function byId(text: string): Target[] {
  const kinds: [RegExp, string][] = [
    [/^job_[0-9A-Z]{26}$/, "/jobs/"],
    [/^inv_[0-9A-Z]{26}$/, "/invoices/"],
    [/^node_[0-9A-Z]{26}$/, "/ops/nodes/"],
  ];
  return kinds
    .filter(([shape]) => shape.test(text))
    .map(([, base]) => ({ word: `open ${text}`, href: base + text }));
}

function targets(text: string): Target[] {
  const places = (isOperator() ? OPERATOR_PLACES : TENANT_PLACES)
    .filter((place) => may(place.permission))
    .map(({ word, href }) => ({ word, href }));
  const found = places.filter((t) => t.word.toLowerCase().includes(text.toLowerCase()));
  if (text && !isOperator() && !byId(text).length)
    found.push({ word: `jobs named ${text}…`, href: `/jobs?name=${encodeURIComponent(text)}` });
  return [...byId(text), ...found];
}

export function Palette({ open }: { open: Signal<boolean> }) {
  const box = useRef<HTMLDialogElement>(null);
  const text = useSignal("");
  const chosen = useSignal(0);

  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "k") {
        event.preventDefault();
        open.value = !open.value;
      }
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  useEffect(() => {
    if (open.value && !box.current?.open) {
      text.value = "";
      chosen.value = 0;
      box.current?.showModal();
    } else if (!open.value) box.current?.close();
  }, [open.value]);

  const list = targets(text.value.trim());
  const go = (target: Target | undefined) => {
    if (!target) return;
    open.value = false;
    navigate(target.href);
  };
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      chosen.value = (chosen.value + step + list.length) % Math.max(1, list.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      go(list[chosen.value]);
    }
  };
  return (
    <dialog
      ref={box}
      class="palette"
      aria-label="Find"
      onClose={() => {
        open.value = false;
      }}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-label="A page, a job's name, or an id"
        placeholder="A page, a job's name, or an id"
        value={text.value}
        onKeyDown={keys}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          chosen.value = 0;
        }}
      />
      <div id="palette-list" class="found" role="listbox" aria-label="Found">
        {list.map((target, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox above
          <div
            key={target.href}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen.value}
            onClick={() => go(target)}
          >
            {target.word}
          </div>
        ))}
      </div>
    </dialog>
  );
}
