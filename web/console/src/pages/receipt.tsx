/* receipt: the signed usage record of a job, with what proves it, in one file. */
import { refresh, use } from "../base/store";
import type { Job } from "../base/types";
import { Command, Facts, Panel } from "../parts/bits";
import { FaultBox } from "../parts/fault";

interface Envelope {
  payload: string;
  payloadType: string;
  signatures: { keyid?: string; sig: string }[];
}
interface Receipt {
  receipt: string;
  record: Envelope;
  proof: string;
  evidence: unknown[];
}
interface RecordBody {
  record: string;
  outcome: string;
  quantities: { meter: string; quantity: string; price: string }[];
  legs: { node: string; held_ns: string; billed_ns: string }[];
}

function bodyOf(envelope: Envelope): RecordBody {
  const bytes = Uint8Array.from(atob(envelope.payload), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as RecordBody;
}

/* The tree in which the record stands: the checkpoint's size, out of the tlog-proof text. */
function leafOf(proof: string): string {
  const index = /^index (\d+)$/m.exec(proof)?.[1];
  const note = proof.split("\n\n")[1]?.split("\n") ?? [];
  return index !== undefined && note[1] ? `leaf ${index} of ${note[1]}` : "in the log";
}

export function ReceiptPanel({ job }: { job: Job }) {
  const url = `/v1/jobs/${job.job}/receipt`;
  const held = use<Receipt>(url);
  const receipt = held.data;
  return (
    <Panel
      title="Receipt"
      aside={
        receipt && (
          <a class="button" href={url} download={`${job.job}.receipt.json`}>
            Download
          </a>
        )
      }
    >
      {held.problem && !receipt && (
        <FaultBox problem={held.problem} retry={() => void refresh(url)} />
      )}
      {receipt && (
        <div style={{ display: "grid", gap: "16px" }} data-receipt={receipt.receipt}>
          <Facts
            rows={[
              ["record", <span class="mono">{bodyOf(receipt.record).record}</span>],
              ["outcome", bodyOf(receipt.record).outcome],
              ["signed by", <span class="mono">{receipt.record.signatures[0]?.keyid ?? "–"}</span>],
              ["log", leafOf(receipt.proof)],
              ["evidence", `${receipt.evidence.length} signed readings of the node`],
            ]}
          />
          <p class="faint">Anyone can check it without this server:</p>
          <Command text={`cresset usage verify ${job.job}.receipt.json`} />
        </div>
      )}
    </Panel>
  );
}
