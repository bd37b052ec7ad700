--[[ renew-node: renew the presence of a node, if its record is the one that its holder expects.
  KEYS[1] record       STRING  "generation version region", a line end, the record; expires
  KEYS[2] presence    STRING  "ts=<ms>;region=<region>"; expires
  KEYS[3] owner       STRING  name of the instance that holds the node; expires with the record
  ARGV[1] generation  of the node
  ARGV[2] version     of its last record
  ARGV[3] life        ms for which the record is kept
  ARGV[4] ttl         ms for which the node is present
  ARGV[5] at          time of its last message (ms)
  Returns {"seen"}, {"returned"} if it was not present, {"missing"} if its record was lost, or {"stale", generation, version}
  Idempotent: an older presence changes nothing. ]]
local record, presence, owner, generation, version, life, ttl, at = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local known_generation, known_version, region = string.match(redis.call('GETRANGE', record, 0, 319), '^(%d+) (%d+) ([^\n]*)\n')
if not known_generation then
  return { 'missing' }
end
local newer = tonumber(generation) - tonumber(known_generation)
if newer == 0 then
  newer = tonumber(version) - tonumber(known_version)
end
if newer > 0 then
  return { 'missing' }
end
if newer < 0 then
  return { 'stale', known_generation, known_version }
end
-- Not at every heartbeat: one write is enough, and half of the retention is long.
if redis.call('PTTL', record) < tonumber(life) / 2 then
  redis.call('PEXPIRE', record, life)
  redis.call('PEXPIRE', owner, life)
end
local seen = string.match(redis.call('GET', presence) or '', '^ts=(%d+);')
if not seen or tonumber(seen) <= tonumber(at) then
  redis.call('SET', presence, 'ts=' .. at .. ';region=' .. region, 'PX', ttl)
end
return { seen and 'seen' or 'returned' }
