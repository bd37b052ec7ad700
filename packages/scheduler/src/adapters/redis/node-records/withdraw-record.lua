--[[ withdraw-record: end a generation of a node, for as long as late records of it could arrive.
  KEYS[1] record       STRING  "generation version region", a line end, the record; expires
  KEYS[2] presence    STRING  "ts=<ms>;region=<region>"; expires
  KEYS[3] owner       STRING  name of the instance that holds the node; expires with the record
  ARGV[1] generation  that ends
  ARGV[2] version     later than all records of the generation
  ARGV[3] memory      ms for which the withdrawal is kept
  Returns {"withdrawn"} or {"stale", generation, version} if the store has a newer one
  Idempotent: a repeat finds it withdrawn. ]]
local record, presence, owner, generation, version, memory = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]
local known_generation, known_version = string.match(redis.call('GETRANGE', record, 0, 63), '^(%d+) (%d+) ')
if known_generation and tonumber(known_generation) > tonumber(generation) then
  return { 'stale', known_generation, known_version }
end
redis.call('SET', record, generation .. ' ' .. version .. ' \n', 'PX', memory)
redis.call('DEL', presence, owner)
return { 'withdrawn' }
