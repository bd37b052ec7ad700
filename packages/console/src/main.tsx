/** Starts the console: the live feed, then the page that the address names. */
import { render } from 'preact';
import { startFeed } from './data/live-feed.ts';
import { App } from './shell/app.tsx';
import 'uplot/dist/uPlot.min.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/pages.css';

const root = document.getElementById('app');
if (root !== null) {
  startFeed();
  render(<App />, root);
}
