/* ask: a question before what cannot be undone, and a place for the reason that an operator gives. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Problem, Refused } from "../base/api";
import { FaultBox } from "./fault";

export interface QuestionProps {
  title: string;
  children?: ComponentChildren;
  verb: string;
  name?: string; // must be typed: what cannot be undone
  reason?: boolean;
  act: (reason: string) => Promise<void>;
  close: () => void;
}

export function Question(props: QuestionProps) {
  const box = useRef<HTMLDialogElement>(null);
  const typed = useSignal("");
  const reason = useSignal("");
  const problem = useSignal<Problem | null>(null);
  const busy = useSignal(false);

  useEffect(() => {
    box.current?.showModal();
  }, []);

  const act = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    problem.value = null;
    try {
      await props.act(reason.value);
      props.close();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problem.value = error.problem;
    } finally {
      busy.value = false;
    }
  };
  const ready =
    (!props.name || typed.value === props.name) && (!props.reason || reason.value.trim());

  return (
    <dialog ref={box} onClose={props.close} aria-label={props.title}>
      <form onSubmit={(event) => void act(event)} style={{ display: "grid", gap: "16px" }}>
        <h2>{props.title}</h2>
        {props.children}
        {props.reason && (
          <div class="field">
            <label for="question-reason">Reason, for the audit log</label>
            <input
              id="question-reason"
              maxLength={200}
              value={reason.value}
              onInput={(event) => {
                reason.value = event.currentTarget.value;
              }}
            />
          </div>
        )}
        {props.name && (
          <div class="field">
            <label for="question-name">Type {props.name}</label>
            <input
              id="question-name"
              value={typed.value}
              autocomplete="off"
              onInput={(event) => {
                typed.value = event.currentTarget.value;
              }}
            />
          </div>
        )}
        {problem.value && <FaultBox problem={problem.value} />}
        <div class="chips">
          <button type="submit" class="primary" disabled={!ready || busy.value}>
            {props.verb}
          </button>
          <button type="button" onClick={props.close}>
            Leave it
          </button>
        </div>
      </form>
    </dialog>
  );
}
