/** The room mode of the deployed web client, on one instance. */
import { startApp } from '../support/start-app.ts';
import { describeLegacyRooms } from './legacy-room-cases.ts';

describeLegacyRooms('on one instance', async (settings) => {
  const app = await startApp(settings);
  return [app, app];
});
