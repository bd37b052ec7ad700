--[[ keep-orders: write what operators ordered for a node, unless the node has a later claim.
  KEYS[1] node        HASH  credential, generation, and the node's capacity
  KEYS[2] orders      STRING  what operators ordered for the node
  ARGV[1] generation  of the claim that carries out the orders
  ARGV[2] text        the orders; empty: none
  ARGV[3] memory      ms that orders are kept after the last claim
  Returns {"kept"} or {"stale"}
  Idempotent: a repeat writes the same. ]]
local node, orders, generation, text, memory = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
if (tonumber(redis.call('HGET', node, 'generation') or 0)) > tonumber(generation) then
  return { 'stale' }
end
if text == '' then
  redis.call('DEL', orders)
else
  redis.call('SET', orders, text, 'PX', memory)
end
return { 'kept' }
