/** Settings of regions: where this instance is, and how far the regions are from each other. */
import { list, optional, required, tables } from '../compound-setting.ts';
import { group, integer, text } from '../setting.ts';

const MAX_ROUND_TRIP_MS = 10_000;
const MAX_REGIONS = 64;

export const region = (doc: string) =>
  text({
    default: '',
    pattern: /^[A-Za-z0-9._:-]{1,128}$/,
    allowed: 'a name of 1 to 128 letters, digits, or . _ : -',
    doc,
  });

export const regionList = (doc: string) => list({ of: region(''), default: [], maxItems: MAX_REGIONS, doc });

export const regions = group(
  'Where nodes and requests are: see [regions](placement.md#regions). Nodes name their region when they register.',
  {
    own: optional(
      region(
        'Region of this instance, and of requests and sessions that name none. Unset: they prefer no node.',
      ),
    ),
    other_round_trip_ms: integer({
      default: 150,
      min: 1,
      max: MAX_ROUND_TRIP_MS,
      unit: 'ms',
      doc: 'Time to a region and back that round_trips does not list.',
    }),
    round_trips: tables({
      doc: 'Time from one region to another and back, in both directions. Nearer regions are tried first.',
      example: ['one = "eu-west"', 'other = "eu-north"', 'ms = 30'],
      maxItems: MAX_REGIONS * MAX_REGIONS,
      columns: {
        one: required(region('A region.')),
        other: required(region('The other.')),
        ms: required(
          integer({ default: 0, min: 0, max: MAX_ROUND_TRIP_MS, unit: 'ms', doc: 'There and back.' }),
        ),
      },
    }),
  },
);
