// The table of the command line against the interface: every operation, path, parameter and member
// that a command names is one that the server has, and every command has a help.
import { execFileSync } from "node:child_process";

const run = (program, ...args) =>
  execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 26 });

const api = JSON.parse(run("build/bin/cressetd", "print", "openapi"));
const commands = run("build/bin/cresset", "print", "table")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const resolve = (value) =>
  value?.$ref ? resolve(value.$ref.slice(2).split("/").reduce((at, name) => at[name], api)) : value;

const operations = new Map();
for (const [path, methods] of Object.entries(api.paths))
  for (const [method, operation] of Object.entries(methods))
    if (operation.operationId)
      operations.set(operation.operationId, { path, method: method.toUpperCase(), ...operation });

const faults = [];
for (const command of commands) {
  const say = (what) => faults.push(`cresset ${command.command}: ${what}`);
  const help = run("build/bin/cresset", ...command.command.split(" "), "--help");
  if (!help.includes("Usage: cresset")) say("has no help");
  if (!command.operation) continue;
  const operation = operations.get(command.operation);
  if (!operation) {
    say(`the server has no operation ${command.operation}`);
    continue;
  }
  const path = command.path.split("?")[0];
  if (operation.path !== path || operation.method !== command.method)
    say(`${command.method} ${path}, but the server has ${operation.method} ${operation.path}`);
  const parameters = (operation.parameters ?? []).map(resolve);
  const queries = parameters.filter((p) => p.in === "query").map((p) => p.name);
  const headers = parameters.filter((p) => p.in === "header").map((p) => p.name);
  for (const name of command.query) if (!queries.includes(name)) say(`no parameter ${name}`);
  if (command.list && !queries.includes("limit")) say("is no list");
  if (!command.list && queries.includes("after") && queries.includes("limit")) say("is a list");
  if (headers.includes("Idempotency-Key") !== command.keyed && command.method !== "GET")
    say(command.keyed ? "takes no Idempotency-Key" : "needs an Idempotency-Key");
  if (headers.includes("Cresset-Reason") !== command.reason && command.method !== "GET")
    say(command.reason ? "takes no reason" : "needs a reason");
  const body = resolve(operation.requestBody?.content?.["application/json"]?.schema);
  for (const name of command.body) if (!body?.properties?.[name]) say(`no member ${name}`);
}

for (const fault of faults) console.log(fault);
console.log(`${commands.length} commands, ${operations.size} operations, ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
