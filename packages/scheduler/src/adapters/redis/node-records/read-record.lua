--[[ read-record: the status of a node, and its record if the caller has another version.
  KEYS[1] record       STRING  "generation version region", a line end, the record; expires
  KEYS[2] presence    STRING  "ts=<ms>;region=<region>"; expires
  ARGV[1] generation  of the caller's record, or ""
  ARGV[2] version     of the caller's record, or ""
  Returns {"present", generation, version, seen (ms), ms it stays present, body or nil}, {"expired"|"withdrawn", generation} or {"absent"}
  Idempotent: only reads. ]]
local record, presence, generation, version = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local text = redis.call('GET', record)
local known_generation, known_version, from = string.match(text or '', '^(%d+) (%d+) [^\n]*\n()')
if not known_generation then
  return { 'absent' }
end
if from > #text then
  return { 'withdrawn', known_generation }
end
local seen = string.match(redis.call('GET', presence) or '', '^ts=(%d+);')
if not seen then
  return { 'expired', known_generation }
end
local left = redis.call('PTTL', presence)
if known_generation == generation and known_version == version then
  return { 'present', known_generation, known_version, seen, left }
end
return { 'present', known_generation, known_version, seen, left, string.sub(text, from) }
