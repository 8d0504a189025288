--- Optimizers that each keep a part of the moments: together they make the steps of a whole one,
-- with the same bits.
local lu = require "luaunit"
local ladies = require "ladies"
local tables = require "ladies.base.tables"

local tests = {}

-- Elements of parameters: several chunks of the norm's sums (2^14), a whole one, less, none over.
local SIZES = {40000, 7, 100, 16384, 33000, 1}

local MAKERS = {
  adam = function(params) return ladies.optim.adam(params, {weight_decay = 0.01}) end,
  adamw = ladies.optim.adamw,
  groups = function(params)
    local adam = ladies.optim.adam(params)
    adam:group({params[1], params[3]}, {lr = 0.01, weight_decay = 0.1})
    return adam
  end,
  momentum = function(params) return ladies.optim.sgd(params, {momentum = 0.9}) end,
  plain = ladies.optim.sgd,
}

local function new_parameters()
  return tables.map(SIZES, function(size, i)
    return ladies.zeros(size):normal_(1, ladies.rng(i)):requires_grad_()
  end)
end

-- Gradients of step k, of all parameters but one.
local function set_gradients(params, k)
  for i, size in ipairs(SIZES) do
    if i ~= k then params[i]:set_grad_(ladies.zeros(size):normal_(3, ladies.rng(100 * k + i))) end
  end
end

-- Copies the part first .. last of one optimizer's parameters to another one.
local function give(from, to, first, last)
  if first > last then return end
  to:padded_values():slice(first, last):copy_(from:padded_values():slice(first, last))
end

-- The optimizers of n processes, and their parameters.
local function parts_of(make, n)
  local all, params = {}, {}
  for i = 1, n do
    params[i] = new_parameters()
    all[i] = make(params[i])
    all[i]:keep(i, n)
  end
  return all, params
end

-- The k-th step of all, with gradients that are clipped or not.
local function step(all, params, k, clip)
  local square, n = 0, #all
  for i = 1, n do
    set_gradients(params[i], k)
    for _, sum in ipairs(all[i]:squares()) do square = square + sum end
  end
  local norm
  for i = 1, n do norm = all[i]:step(clip and {clip = clip, square = square}) end
  for i = 1, n do
    local first, last = all[i]:part(i, n)
    for j = 1, n do if j ~= i then give(all[i], all[j], first, last) end end
  end
  return norm
end

function tests.test_steps()
  for name, make in pairs(MAKERS) do
    for n = 2, 5, 3 do
      local params = new_parameters()
      local whole = make(params)
      local all, theirs = parts_of(make, n)
      for k = 1, 4 do
        local clip = k > 2 and 500 or nil
        set_gradients(params, k)
        lu.assertEquals(step(all, theirs, k, clip), whole:step(clip and {clip = clip}), name)
        for i = 1, n do
          lu.assertEquals(all[i]:padded_values():hash(), whole:padded_values():hash(), name)
        end
      end
    end
  end
end

--- Parts begin at whole lines of memory, follow one another and are about equal; the last ones may
-- be empty.
function tests.test_parts()
  local adam = ladies.optim.adam(new_parameters())
  local size = #adam:padded_values()
  for n = 1, 20 do
    local at = 1
    for i = 1, n do
      local first, last = adam:part(i, n)
      lu.assertEquals({first, (first - 1) % 16}, {at, 0})
      lu.assertTrue(last - first + 1 <= size / n + 2 * 16384)
      at = last + 1
    end
    lu.assertEquals(at, size + 1)
  end
end

--- A part has so much less memory, and is loaded from a whole state.
function tests.test_state()
  local params = new_parameters()
  local whole, part = ladies.optim.adam(params), ladies.optim.adam(new_parameters())
  set_gradients(params, 1)
  whole:step()
  collectgarbage()
  local before = ladies.memory().total
  part:keep(2, 3)
  local first, last = part:part(2, 3)
  collectgarbage()
  local others = #part:padded_values() - (last - first + 1)
  lu.assertAlmostEquals(before - ladies.memory().total, 2 * 4 * others, 1000)
  part:load_state(whole:state())
  local moment = whole:state().moment2
  lu.assertEquals(part:state().moment2:hash(), moment:slice(first, last):hash())
  lu.assertEquals(part:state().steps, whole:state().steps)
  part:keep(1, 1)
  local grown = part:state().moment2
  lu.assertEquals(grown:slice(first, last):hash(), moment:slice(first, last):hash())
  lu.assertEquals({grown:slice(1, first - 1):sum():item(), #grown}, {0, #moment})
end

function tests.test_errors()
  local adam = ladies.optim.adam(new_parameters())
  lu.assertErrorMsgContains("there is no part 4 of 3", adam.part, adam, 4, 3)
  lu.assertErrorMsgContains("there is no part 0 of 3", adam.keep, adam, 0, 3)
  local state = adam:state()
  adam:keep(1, 2)
  local text = "the norm of gradients of which others have parts is not here"
  lu.assertErrorMsgContains(text, adam.clip_norm, adam, 1)
  lu.assertErrorMsgContains(text, adam.step, adam, {clip = 1})
  lu.assertErrorMsgContains("the gradients' norm is inf", adam.step, adam,
    {clip = 1, square = math.huge})
  state.moment1 = adam:state().moment1
  lu.assertErrorMsgContains("load_state: moment1 must be a Tensor of 89536, got", adam.load_state,
    adam, state)
end

return tests
