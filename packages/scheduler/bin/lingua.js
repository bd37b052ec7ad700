#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';

// Before the program is loaded: jobs outlive the usual young generation, and V8 would create them as old objects (ADR 0061).
setFlagsFromString('--no-allocation-site-pretenuring');
await import('../dist/main.js');
