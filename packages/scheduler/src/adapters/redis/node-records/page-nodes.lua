--[[ page-nodes: some ids of one part of the index, longest unseen first; those unseen for too long are taken off on the way.
  KEYS[1] index   ZSET  node id -> last seen (ms, server time)
  ARGV[1] max     ids to name, and to take off
  ARGV[2] forget  ms after which an unseen id is taken off
  ARGV[3] score   of the last id named, or ""
  ARGV[4] after   the last id named, or ""
  Returns {"page", score of the last, id...}
  Safe twice: names the same ids again unless they were seen meanwhile; these come once more at the end. ]]
local index, max, forget, score, after = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit = string.format('%.0f', now - forget)
for _, node in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', limit, 'LIMIT', 0, max)) do
  redis.call('ZREM', index, node)
end
local from = 0
if score ~= '' then
  -- If the last one was seen meanwhile its place is lost: all of its time are named again, so that none is left out.
  if redis.call('ZSCORE', index, after) == score then
    from = redis.call('ZRANK', index, after) + 1
  else
    from = redis.call('ZCOUNT', index, '-inf', '(' .. score)
  end
end
local page = { 'page', score }
local found = redis.call('ZRANGE', index, from, from + max - 1, 'WITHSCORES')
for at = 1, #found, 2 do
  page[#page + 1] = found[at]
  page[2] = found[at + 1]
end
return page
