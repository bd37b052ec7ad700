#!/bin/sh
// 2>/dev/null; exec node --no-allocation-site-pretenuring --min-semi-space-size=64 --max-semi-space-size=64 "$0" "$@"
// To a shell the line above starts Node.js, to Node.js it is a comment. Jobs outlive the usual young generation and are taken for old ones (ADR 0061).
import '../dist/main.js';
