--- Philox4x32-10 (Salmon et al., SC 2011) in plain Lua, and what src/core/random/rng builds on it.

local M = {}

local WORD = 0xffffffff

--- Ten rounds: four counter words and two key words give four random words.
function M.block(counter, key)
  local c0, c1, c2, c3 = table.unpack(counter)
  local k0, k1 = table.unpack(key)
  for _ = 1, 10 do
    local a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
    c0, c1, c2, c3 = (b >> 32) ~ c1 ~ k0, b & WORD, (a >> 32) ~ c3 ~ k1, a & WORD
    k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
  end
  return {c0, c1, c2, c3}
end

local function words(x) return x & WORD, x >> 32 end

--- Four random words of (key, sub-stream, position).
function M.random(key, stream, position)
  local p0, p1 = words(position)
  local s0, s1 = words(stream)
  return M.block({p0, p1, s0, s1}, {words(key)})
end

--- 64 random bits as a Lua integer.
function M.bits(key, stream, position)
  local r = M.random(key, stream, position)
  return r[2] << 32 | r[1]
end

--- The uniform number in (0, 1) of 64 random bits.
function M.uniform(bits) return ((bits >> 12) + 0.5) * 2.0 ^ -52 end

local FORK, SHARED = 1 << 62, 1 << 63

--- The keys of a seed's generator and of a generator's k-th child; the sub-stream of rng:at(k).
function M.seed(seed) return M.bits(seed, FORK | SHARED, 0) end
function M.fork(key, k) return M.bits(key, FORK, k) end
function M.at(k) return SHARED | (k & ~FORK) end

return M
