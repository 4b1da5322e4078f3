import { defineConfig } from 'vite';

// The output is checked in: neither the launcher nor Maven needs Node. ./dev page builds it.
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../src/main/resources/dev/quipu/server/http/route/page',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: 'es2022',
    rollupOptions: {
      output: {
        entryFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
  server: { proxy: { '/v1': 'http://127.0.0.1:7080', '/readyz': 'http://127.0.0.1:7080' } },
});
