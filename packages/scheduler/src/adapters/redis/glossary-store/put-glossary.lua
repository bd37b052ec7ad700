--[[ put-glossary: store a glossary of a tenant, unless it is a new one and the tenant has too many.
  KEYS[1] glossaries  HASH  id -> glossary, as JSON, perhaps sealed
  ARGV[1] id          of the glossary
  ARGV[2] text        the glossary, as JSON, perhaps sealed
  ARGV[3] most        glossaries of one tenant
  Returns {"stored"} or {"full"}
  Idempotent: a repeat writes the same. ]]
local glossaries, id, text, most = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if redis.call('HEXISTS', glossaries, id) == 0 and redis.call('HLEN', glossaries) >= tonumber(most) then
  return { 'full' }
end
redis.call('HSET', glossaries, id, text)
return { 'stored' }
