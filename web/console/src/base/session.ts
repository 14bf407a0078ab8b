/* session: who is signed in, and what they may do. */
import { signal } from "@preact/signals";
import { ask, csrf, get, turnedAway } from "./api";

export interface Me {
  kind?: string;
  tenant: string | null;
  tenant_name?: string | null;
  name?: string | null;
  permissions: string[];
  region: string;
  operator?: boolean;
}

export const me = signal<Me | null>(null);

interface Session {
  csrf: string;
}

/* Asks who this browser is. False: nobody yet. */
export async function resume(): Promise<boolean> {
  try {
    const session = await get<Session>("/v1/session");
    csrf.value = session.data.csrf;
    me.value = (await get<Me>("/v1/me")).data;
    turnedAway.value = false;
    return true;
  } catch {
    me.value = null;
    return false;
  }
}

export async function signIn(code: string): Promise<void> {
  await ask("POST", "/v1/session", { body: { code } });
  if (!(await resume())) throw new Error("the session could not be opened");
}

export async function signOut(): Promise<void> {
  await ask("DELETE", "/v1/session");
  csrf.value = "";
  me.value = null;
}

export function may(permission: string): boolean {
  const has = me.value?.permissions ?? [];
  return has.includes(permission) || has.includes("*");
}

export function isOperator(): boolean {
  return me.value?.operator === true || (me.value !== null && me.value.tenant === null);
}
