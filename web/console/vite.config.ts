import { defineConfig } from "vite";

/* The console is static files below /, served by cressetd in development and by nginx in
 * production; in `vite dev` the API of a running region stands behind a proxy. */
export default defineConfig({
  build: {
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/v1": process.env["CRESSET_URL"] ?? "http://127.0.0.1:7070" } },
});
