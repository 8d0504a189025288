--- Elementary functions at the ends of float's range, against Lua's in double.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"

local tests = {}

local INF, NAN = math.huge, 0 / 0
local LARGEST, LEAST = 0x1.fffffep127, 0x1p-149   -- of positive floats

-- Both sides of where exp overflows, loses bits and becomes zero, and arguments that lose theirs.
local PLACES = {
  -INF, -1e30, -1000, -105, -104, -103.5, -103, -100, -88.8, -88, -87.4, -87.3, -87, -1, -0.34,
  -1e-40, -0.0, 0, 1e-40, 0.34, 1, 87, 88, 88.3, 88.4, 88.7, 88.72, 88.73, 89, 100, 1000, 1e30, INF,
}

local function float(x) return (string.unpack("f", string.pack("f", x))) end

--- A double as a float, which may be infinity; string.pack makes no promise of that.
local function rounded(y)
  if math.abs(y) > LARGEST then return y > 0 and INF or -INF end
  return float(y)
end

--- Applies a method to all places at once, and more than once, for loops that take several in turn.
local function values_of(name, ...)
  local many = {}
  for _ = 1, 5 do table.move(PLACES, 1, #PLACES, #many + 1, many) end
  local out = ladies.tensor(many)[name](ladies.tensor(many), ...):to_table()
  for i, y in ipairs(out) do lu.assertEquals(y, out[(i - 1) % #PLACES + 1]) end
  return out
end

--- Asserts that the method agrees with f, which takes and gives doubles.
local function assert_agrees(name, f, ...)
  local got = values_of(name, ...)
  for i, x in ipairs(PLACES) do
    local want = rounded(f(float(x)))
    local near = got[i] == want
      or math.abs(want) < INF and math.abs(got[i] - want) <= 5e-7 * math.abs(want) + 2 * LEAST
    lu.assertTrue(near, ("%s(%.9g) is %.9g, expected %.9g"):format(name, x, got[i], want))
  end
end

local function expm1(x)
  return math.abs(x) < 1e-5 and x + x * x / 2 or math.exp(x) - 1
end

function tests.test_exp()
  assert_agrees("exp", math.exp)
  lu.assertFalse(ladies.tensor{1000}:exp():is_finite())
end

function tests.test_elu()
  assert_agrees("elu", function(x) return x > 0 and x or 1.5 * expm1(x) end, 1.5)
end

function tests.test_tanh()
  assert_agrees("tanh", function(x)
    if math.abs(x) > 20 then return x > 0 and 1 or -1 end
    local e = expm1(2 * x)
    return e / (e + 2)
  end)
end

--- Below about -88 the sigmoid is 0: exp(-x) is infinite before its reciprocal is no float.
function tests.test_sigmoid()
  assert_agrees("sigmoid", function(x)
    return math.exp(-x) <= LARGEST and 1 / (1 + math.exp(-x)) or 0
  end)
end

--- nan comes out as nan, and its neighbours do not notice.
function tests.test_nan()
  for _, name in ipairs{"exp", "elu", "sigmoid", "tanh", "relu", "leaky_relu", "log", "sqrt",
    "square"} do
    for at = 1, 33 do
      local x = ladies.full(33, 0.5)
      x[at] = NAN
      local y = x[name](x):to_table()
      for i, value in ipairs(y) do
        lu.assertEquals(value ~= value, i == at, ("%s, element %d"):format(name, i))
        if i ~= at then lu.assertEquals(value, y[at == 1 and 2 or 1]) end
      end
    end
  end
end

--- Where a function is flat its gradient is 0, not nan.
function tests.test_gradients_at_the_ends()
  for name, want in pairs{
    exp = {0, 0, INF}, elu = {0, 0, 1}, sigmoid = {0, 0, 0}, tanh = {0, 0, 0},
  } do
    local x = ladies.tensor{-INF, -1000, 1000}:requires_grad_()
    local _ <close> = ladies.step()
    x[name](x):sum():backward()
    lu.assertEquals(x.grad:to_table(), want, name)
  end
end

--- Rows longer than a tile, weights, and a gradient that is added to another: at finite places.
function tests.test_binary_cross_entropy()
  local n_cols, weights = 300, {0.5, 2}
  local logits, targets, want, loss = {{}, {}}, {{}, {}}, {{}, {}}, 0
  for r = 1, 2 do
    for j = 1, n_cols do
      local x, t = float(PLACES[2 + (j + r) % (#PLACES - 2)]), (j % 5) / 4
      local e = math.exp(-math.abs(x))
      local log1p = e < 1e-5 and e - e * e / 2 or math.log(1 + e)
      logits[r][j], targets[r][j] = x, t
      loss = loss + weights[r] / n_cols * (math.max(x, 0) - x * t + log1p)
      want[r][j] = 2 * weights[r] / n_cols * (1 / (1 + math.exp(-x)) - t)
    end
  end
  local x = ladies.tensor(logits):requires_grad_()
  local t, w = ladies.tensor(targets), ladies.tensor(weights)
  local _ <close> = ladies.step()
  local once = ladies.loss.binary_cross_entropy(x, t, w)
  lu.assertAlmostEquals(once:item() / loss, 1, 1e-6);
  (once + ladies.loss.binary_cross_entropy(x, t, w)):backward()
  compare.assert_close(x.grad, want, 1e-7, "gradient")
end

--- The loss of a single element keeps its precision where it is small, and nan stays nan.
function tests.test_binary_cross_entropy_of_one()
  local function loss(x)
    return ladies.loss.binary_cross_entropy(ladies.tensor{x}, ladies.ones(1)):item()
  end
  for _, x in ipairs{0, 1, 10, 30, 80, 87} do
    local e = math.exp(-x)
    lu.assertAlmostEquals(loss(x) / (e < 1e-5 and e - e * e / 2 or math.log(1 + e)), 1, 5e-7)
  end
  lu.assertTrue(loss(NAN) ~= loss(NAN))
end

function tests.test_log_softmax()
  local function rows(...) return ladies.tensor{{...}}:log_softmax():to_table()[1] end
  lu.assertEquals(rows(1000, 0), {0, -1000})
  lu.assertEquals(rows(-1e30, 0), {float(-1e30), 0})
  lu.assertEquals(rows(-INF, 0), {-INF, 0})
  for _, row in ipairs{{NAN, 0}, {0, NAN}, {INF, 0}, {-INF, -INF}} do
    local y = rows(table.unpack(row))
    lu.assertTrue(y[1] ~= y[1] and y[2] ~= y[2])
  end
end

return tests
