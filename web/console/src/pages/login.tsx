/* login: a one-use code, from the address that `cresset dev login` prints, or typed. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Problem, Refused } from "../base/api";
import { navigate } from "../base/router";
import { isOperator, signIn } from "../base/session";
import { Command } from "../parts/bits";
import { FaultBox } from "../parts/fault";

export function Login() {
  const code = useSignal("");
  const problem = useSignal<Problem | null>(null);
  const busy = useSignal(false);

  const enter = async (text: string) => {
    busy.value = true;
    problem.value = null;
    try {
      await signIn(text);
      navigate(isOperator() ? "/ops" : "/", { replace: true });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problem.value = error.problem;
    } finally {
      busy.value = false;
    }
  };

  useEffect(() => {
    const fragment = location.hash.slice(1);
    if (!fragment) return;
    history.replaceState(null, "", location.pathname); // one use: it need not stay in sight
    void enter(fragment);
  }, []);

  return (
    <div class="gate">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter(code.value.trim());
        }}
      >
        <h1>
          <img src="/mark.svg" width="20" height="20" alt="" /> Cresset
        </h1>
        <div class="field">
          <label for="login-code">Login code</label>
          <input
            id="login-code"
            class="mono"
            autocomplete="one-time-code"
            value={code.value}
            onInput={(event) => {
              code.value = event.currentTarget.value;
            }}
          />
        </div>
        <button type="submit" class="primary" disabled={busy.value || !code.value.trim()}>
          Sign in
        </button>
        {problem.value && <FaultBox problem={problem.value} />}
        <p class="small faint">A code works once, for 10 minutes. A new one:</p>
        <Command text="cresset dev login" />
      </form>
    </div>
  );
}
