/* spec: a job as a form; each field is one member of the body, and wears that member's faults. */
import type { ComponentChildren } from "preact";
import type { Fault } from "../base/api";
import { bytes } from "../base/format";
import type { Artifact } from "../base/types";

export interface Spec {
  name: string;
  kind: string;
  program: { recipe?: string; parameters?: Record<string, unknown>; artifact?: string };
  inputs: Record<string, string>;
  hyperparameters: Record<string, number | string>;
  max_runtime_s?: number;
  [other: string]: unknown;
}

const RECIPES: Record<string, Record<string, unknown>> = {
  cnn: { channels: [16, 32], kernel: 3, pool: 2, classes: 10 },
  mlp: { widths: [128, 10], activation: "relu" },
};

const INPUTS: Record<string, string[]> = {
  train: ["images", "labels", "test_images", "test_labels"],
  batch: ["images", "labels"],
};

export function blank(): Spec {
  return {
    name: "train-cnn",
    kind: "train",
    program: { recipe: "cnn", parameters: { ...RECIPES["cnn"] } },
    inputs: {},
    hyperparameters: { epochs: 5, batch: 64, rate: 0.001, seed: 1 },
    max_runtime_s: 3600,
  };
}

interface Props {
  spec: Spec;
  set: (spec: Spec) => void;
  artifacts: Artifact[];
  faults: Fault[];
}

function FieldOf(props: {
  id: string;
  word: string;
  pointer: string;
  faults: Fault[];
  children: ComponentChildren;
}) {
  const own = props.faults.filter((fault) => fault.pointer?.startsWith(props.pointer));
  return (
    <div class="field">
      <label for={props.id}>{props.word}</label>
      {props.children}
      {own.map((fault) => (
        <span class="fault" key={fault.pointer}>
          {fault.detail}
        </span>
      ))}
    </div>
  );
}

export function SpecForm({ spec, set, artifacts, faults }: Props) {
  const number = (name: string, word: string, step: string) => (
    <FieldOf id={`h-${name}`} word={word} pointer={`/hyperparameters/${name}`} faults={faults}>
      <input
        id={`h-${name}`}
        type="number"
        step={step}
        value={spec.hyperparameters[name] ?? ""}
        onChange={(event) => {
          const value = event.currentTarget.valueAsNumber;
          const rest = { ...spec.hyperparameters };
          if (Number.isNaN(value)) delete rest[name];
          else rest[name] = value;
          set({ ...spec, hyperparameters: rest });
        }}
      />
    </FieldOf>
  );
  const toKind = (kind: string) =>
    set(
      kind === "train"
        ? { ...blank(), name: spec.name }
        : {
            name: spec.name,
            kind,
            program: { artifact: "" },
            inputs: {},
            hyperparameters: { batch: 256 },
            max_runtime_s: 3600,
          },
    );
  return (
    <div style={{ display: "grid", gap: "16px" }}>
      <div class="fields">
        <FieldOf id="s-name" word="Name" pointer="/name" faults={faults}>
          <input
            id="s-name"
            value={spec.name}
            onInput={(event) => set({ ...spec, name: event.currentTarget.value })}
          />
        </FieldOf>
        <FieldOf id="s-kind" word="Kind" pointer="/kind" faults={faults}>
          <select
            id="s-kind"
            value={spec.kind}
            onChange={(event) => toKind(event.currentTarget.value)}
          >
            <option>train</option>
            <option>batch</option>
          </select>
        </FieldOf>
        <FieldOf id="s-max" word="At most, seconds" pointer="/max_runtime_s" faults={faults}>
          <input
            id="s-max"
            type="number"
            min={60}
            value={spec.max_runtime_s ?? ""}
            onChange={(event) => {
              const value = event.currentTarget.valueAsNumber;
              const { max_runtime_s: _gone, ...rest } = spec;
              set(
                Number.isNaN(value) ? (rest as Spec) : ({ ...rest, max_runtime_s: value } as Spec),
              );
            }}
          />
        </FieldOf>
      </div>
      {spec.kind === "train" ? (
        <Recipe spec={spec} set={set} faults={faults} />
      ) : (
        <FieldOf id="s-model" word="Model" pointer="/program" faults={faults}>
          <Pick
            id="s-model"
            kinds={["model"]}
            artifacts={artifacts}
            value={spec.program.artifact ?? ""}
            pick={(artifact) => set({ ...spec, program: { artifact } })}
          />
        </FieldOf>
      )}
      <h3>Inputs</h3>
      <div class="fields">
        {(INPUTS[spec.kind] ?? []).map((name) => (
          <FieldOf
            key={name}
            id={`i-${name}`}
            word={name}
            pointer={`/inputs/${name}`}
            faults={faults}
          >
            <Pick
              id={`i-${name}`}
              kinds={["dataset"]}
              artifacts={artifacts}
              value={spec.inputs[name] ?? ""}
              pick={(artifact) => {
                const { [name]: _old, ...rest } = spec.inputs;
                set({ ...spec, inputs: artifact ? { ...rest, [name]: artifact } : rest });
              }}
            />
          </FieldOf>
        ))}
      </div>
      <h3>Settings</h3>
      <div class="fields">
        {spec.kind === "train" && number("epochs", "Epochs", "1")}
        {number("batch", "Batch", "1")}
        {spec.kind === "train" && number("rate", "Rate", "any")}
        {spec.kind === "train" && number("seed", "Seed", "1")}
      </div>
    </div>
  );
}

function Recipe({ spec, set, faults }: Omit<Props, "artifacts">) {
  return (
    <div class="fields">
      <FieldOf id="s-recipe" word="Recipe" pointer="/program/recipe" faults={faults}>
        <select
          id="s-recipe"
          value={spec.program.recipe ?? ""}
          onChange={(event) => {
            const recipe = event.currentTarget.value;
            set({ ...spec, program: { recipe, parameters: { ...RECIPES[recipe] } } });
          }}
        >
          {Object.keys(RECIPES).map((recipe) => (
            <option key={recipe}>{recipe}</option>
          ))}
        </select>
      </FieldOf>
      <FieldOf
        id="s-parameters"
        word="Its parameters, JSON"
        pointer="/program/parameters"
        faults={faults}
      >
        <input
          id="s-parameters"
          class="mono"
          key={spec.program.recipe}
          defaultValue={JSON.stringify(spec.program.parameters ?? {})}
          onChange={(event) => {
            const field = event.currentTarget;
            try {
              const parameters = JSON.parse(field.value) as Record<string, unknown>;
              field.setCustomValidity("");
              set({ ...spec, program: { ...spec.program, parameters } });
            } catch (error) {
              field.setCustomValidity((error as Error).message);
              field.reportValidity();
            }
          }}
        />
      </FieldOf>
    </div>
  );
}

function Pick(props: {
  id: string;
  kinds: string[];
  artifacts: Artifact[];
  value: string;
  pick: (id: string) => void;
}) {
  const fit = props.artifacts.filter((a) => props.kinds.includes(a.kind) && a.state === "held");
  return (
    <select
      id={props.id}
      value={props.value}
      onChange={(event) => props.pick(event.currentTarget.value)}
    >
      <option value="">none</option>
      {fit.map((a) => (
        <option key={a.artifact} value={a.artifact}>
          {a.name ?? a.artifact} ({bytes(a.size)})
        </option>
      ))}
      {props.value && !fit.some((a) => a.artifact === props.value) && (
        <option>{props.value}</option>
      )}
    </select>
  );
}
