/** How the console is built: three pages that share their scripts, with addresses relative to where they are served. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

export default defineConfig({
  base: './',
  root: at('.'),
  resolve: { conditions: ['source'] },
  build: {
    // The scheduler's package contains the console.
    outDir: at('../scheduler/dist/console'),
    // A running scheduler still serves the files of the last build to pages that are open; scripts/build.mjs removes old ones.
    emptyOutDir: false,
    target: 'es2022',
    // The content policy allows no data: fonts or scripts, and a file is cached on its own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: { index: at('index.html'), talk: at('talk.html'), join: at('join.html') } },
  },
});
