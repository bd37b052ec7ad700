#!/bin/sh
// 2>/dev/null; exec node --min-semi-space-size=32 --max-semi-space-size=32 "$0" "$@"
// To a shell the line above starts Node.js, to Node.js it is a comment. Jobs outlive the usual young generation and are copied on (ADR 0056).
import '../dist/main.js';
