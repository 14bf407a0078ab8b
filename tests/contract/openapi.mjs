// The printed OpenAPI document: whole, without a loose end, and in agreement with the other forms
// that are printed from the same tables. With --update, writes the matrix that CI compares.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const print = (what) =>
  execFileSync("build/bin/cressetd", ["print", what], { encoding: "utf8", maxBuffer: 1 << 26 });
const rows = (text) => text.trimEnd().split("\n").slice(1).map((line) => line.split("\t"));

const api = JSON.parse(print("openapi"));
const faults = [];
const say = (where, what) => faults.push(`${where}: ${what}`);
const at = (pointer) => pointer.slice(2).split("/").reduce((value, name) => value?.[name], api);
const resolve = (value) => (value?.$ref ? at(value.$ref) : value);

const keywords = new Set(
  ("type properties required additionalProperties items enum minimum maximum minLength maxLength " +
    "minItems maxItems maxProperties pattern format contentEncoding description anyOf allOf $ref default").split(" "),
);
const types = new Set(["object", "array", "string", "integer", "number", "boolean", "null"]);

function schema(where, value) {
  if (value.$ref) {
    if (!at(value.$ref)) say(where, `${value.$ref} leads nowhere`);
    return;
  }
  for (const name of Object.keys(value)) if (!keywords.has(name)) say(where, `unknown keyword ${name}`);
  for (const type of [value.type ?? []].flat()) if (!types.has(type)) say(where, `unknown type ${type}`);
  if (value.pattern) new RegExp(value.pattern, "u");
  if (value.minimum > value.maximum) say(where, "no number fits");
  for (const name of value.required ?? [])
    if (!(name in (value.properties ?? {}))) say(where, `requires ${name}, which it does not have`);
  for (const [name, inner] of Object.entries(value.properties ?? {})) schema(`${where}.${name}`, inner);
  for (const inner of [value.items, ...(value.anyOf ?? []), ...(value.allOf ?? [])])
    if (inner) schema(where, inner);
  if (typeof value.additionalProperties === "object") schema(where, value.additionalProperties);
}

function parameters(where, path, list) {
  const named = new Set();
  for (const parameter of list.map(resolve)) {
    const name = `${parameter.in} ${parameter.name}`;
    if (named.has(name)) say(where, `has ${name} twice`);
    named.add(name);
    if (parameter.in === "path" && !parameter.required) say(where, `${parameter.name} must be required`);
    schema(`${where} ${name}`, parameter.schema);
  }
  for (const [, name] of path.matchAll(/\{([^}]+)\}/g))
    if (!named.delete(`path ${name}`)) say(where, `does not describe {${name}}`);
  for (const name of named) if (name.startsWith("path ")) say(where, `describes ${name}, which it has not`);
}

const errors = new Map(rows(print("errors")).map(([code, http]) => [code, http]));

function responses(where, all) {
  if (!Object.keys(all).some((status) => status.startsWith("2"))) say(where, "never succeeds");
  for (const [status, response] of Object.entries(all)) {
    if (!response.description) say(where, `${status} is not described`);
    for (const content of Object.values(response.content ?? {}))
      if (content.schema) schema(`${where} ${status}`, content.schema);
    for (const code of response["x-codes"] ?? [])
      if (errors.get(code) !== status) say(where, `${code} is not a ${status}`);
  }
}

if (!api.openapi.startsWith("3.1.")) say("document", "is not OpenAPI 3.1");
const operations = new Map();
for (const [path, methods] of Object.entries(api.paths))
  for (const [method, operation] of Object.entries(methods)) {
    const where = operation.operationId;
    if (operations.has(where)) say(where, "is the name of two operations");
    operations.set(where, `${method.toUpperCase()} ${path}`);
    if (!operation.summary) say(where, "has no summary");
    parameters(where, path, operation.parameters);
    for (const content of Object.values(operation.requestBody?.content ?? {}))
      if (content.schema) schema(`${where} body`, content.schema);
    responses(where, operation.responses);
  }
for (const [name, value] of Object.entries(api.components.schemas)) schema(name, value);

// Every row of the routes is an operation, under its method and path, and the other way round.
const plain = (path) => path.replaceAll("...}", "}");
for (const [method, path, operation] of rows(print("routes"))) {
  if (operations.get(operation) !== `${method} ${plain(path)}`)
    say(operation, `is ${method} ${path} in the routes, and ${operations.get(operation)} here`);
  operations.delete(operation);
}
for (const name of operations.keys()) say(name, "is no row of the routes");

const matrix = print("matrix");
const file = "tests/contract/matrix.tsv";
if (process.argv.includes("--update")) writeFileSync(file, matrix);
else if (readFileSync(file, "utf8") !== matrix)
  say(file, "differs from `cressetd print matrix`: look at what changed, then run this with --update");

for (const fault of faults) console.error(fault);
console.log(`openapi: ${Object.keys(api.paths).length} paths, ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
