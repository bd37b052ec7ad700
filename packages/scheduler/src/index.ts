/** What a program that embeds the scheduler may use. */

export { createLog, type LogLevel } from './adapters/system/log.ts';
export { type App, createApp } from './app/create-app.ts';
export { type LoadResult, loadConfig } from './config/load-config.ts';
export { readConfig } from './config/read-config.ts';
export type { Config } from './config/settings.ts';
