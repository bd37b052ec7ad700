--[[ release-claim: a node id is nobody's any more, if the claim is still its newest.
  KEYS[1] node        HASH  credential, generation, and the node's capacity
  ARGV[1] generation  of the claim that ends
  ARGV[2] memory      ms for which a forgotten id keeps its last generation
  Returns {"released"}, {"absent"} when nobody holds the id, or {"stale"} when a newer claim does
  Idempotent: a repeat finds nothing to release. ]]
local node, generation, memory = KEYS[1], ARGV[1], ARGV[2]
local holder, newest, slots = unpack(redis.call('HMGET', node, 'credential', 'generation', 'slots'))
if not holder then
  return { 'absent' }
end
if newest ~= generation then
  return { 'stale' }
end
redis.call('HDEL', node, 'credential')
-- Whoever forgets last, the directory or the ledger, leaves the generation alone in the hash, and for a while only.
if not slots then
  redis.call('PEXPIRE', node, memory)
end
return { 'released' }
