--- Random walks by the book: every path of a small graph with its probability. D is a dense table
-- as in reference/dense.lua; a path is the nodes' numbers as text, "1 4 2".
local M = {}

-- {u = probability} of the step from v, after `before` (nil for none).
local function step(D, v, before, opts)
  local weights, total = {}, 0
  for u = 1, D.n_cols do
    local x = D[v][u]
    if x and x > 0 then
      if before and (opts.p or opts.q) then
        x = x * (u == before and 1 / (opts.p or 1) or D[before][u] and 1 or 1 / (opts.q or 1))
      end
      weights[u], total = x, total + x
    end
  end
  if total == 0 then return {[v] = 1} end
  for u, x in pairs(weights) do weights[u] = x / total end
  return weights
end

--- {path = probability} of the walks of `length` steps from a root.
function M.paths(D, root, length, opts)
  local found, restart = {}, opts.restart or 0
  local function go(path, v, before, left, probability)
    if left == 0 then
      found[path] = (found[path] or 0) + probability
      return
    end
    if restart > 0 then
      go(path .. " " .. root, root, nil, left - 1, probability * restart)
    end
    for u, x in pairs(step(D, v, before, opts)) do
      if restart < 1 then
        go(path .. " " .. u, u, v, left - 1, probability * (1 - restart) * x)
      end
    end
  end
  go(tostring(root), root, nil, length, 1)
  return found
end

--- Returns {path = probability} of the nodes that the walkers of a frontier leave.
function M.frontier(D, roots, steps)
  local found = {}
  local function degree(v)
    local n = 0
    for u = 1, D.n_cols do n = n + (D[v][u] and 1 or 0) end
    return n
  end
  local function go(path, at, left, probability)
    local total = 0
    for _, v in ipairs(at) do total = total + degree(v) end
    if left == 0 or total == 0 then
      path = path:sub(2)
      found[path] = (found[path] or 0) + probability
      return
    end
    for i, v in ipairs(at) do
      for u = 1, D.n_cols do
        if D[v][u] then
          local moved = table.move(at, 1, #at, 1, {})
          moved[i] = u
          go(path .. " " .. v, moved, left - 1, probability / total)  -- degree / total / degree
        end
      end
    end
  end
  go("", roots, steps, 1)
  return found
end

return M
