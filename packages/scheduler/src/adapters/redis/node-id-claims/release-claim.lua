--[[ release-claim: free a node id, if the claim is still its newest.
  KEYS[1] node        HASH  credential, generation, and the node's capacity
  ARGV[1] generation  of the claim that ends
  ARGV[2] memory      ms for which a forgotten id keeps its last generation
  Returns {"released"}, {"absent"} if the id is not claimed, or {"stale"} if there is a newer claim
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
-- Of the claims and the ledger, the one that forgets the node last leaves only the generation in the hash, with an expiry.
if not slots then
  redis.call('PEXPIRE', node, memory)
end
return { 'released' }
