--[[ publish-record: write the record of a node, unless the store has a later one.
  KEYS[1] record       STRING  "generation version region", a line end, the record; expires
  KEYS[2] presence    STRING  "ts=<ms>;region=<region>"; expires
  KEYS[3] owner       STRING  name of the instance that holds the node; expires with the record
  ARGV[1] generation  of the node
  ARGV[2] version     of the record within it
  ARGV[3] region      where the node is, or ""
  ARGV[4] body        the record as text
  ARGV[5] life        ms for which the record is kept
  ARGV[6] ttl         ms for which the node is present
  ARGV[7] at          time of its last message (ms)
  ARGV[8] holder      name of the instance that holds it
  Returns {"first"} if the generation is new, {"posted"|"already"} or {"stale", generation, version}
  Idempotent: the same record changes nothing, and an older presence changes nothing. ]]
local record, presence, owner = KEYS[1], KEYS[2], KEYS[3]
local generation, version, region, body, life, ttl, at, holder = unpack(ARGV)
local known_generation, known_version = string.match(redis.call('GETRANGE', record, 0, 63), '^(%d+) (%d+) ')
local newer = tonumber(generation) - (tonumber(known_generation) or -1)
if newer == 0 then
  newer = tonumber(version) - tonumber(known_version)
end
if newer < 0 then
  return { 'stale', known_generation, known_version }
end
local seen
if known_generation == generation then
  seen = string.match(redis.call('GET', presence) or '', '^ts=(%d+);')
end
if newer > 0 then
  redis.call('SET', record, generation .. ' ' .. version .. ' ' .. region .. '\n' .. body, 'PX', life)
  redis.call('SET', owner, holder, 'PX', life)
end
if not seen or tonumber(seen) <= tonumber(at) then
  redis.call('SET', presence, 'ts=' .. at .. ';region=' .. region, 'PX', ttl)
end
if known_generation ~= generation then
  return { 'first' }
end
return { newer > 0 and 'posted' or 'already' }
