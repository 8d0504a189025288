--- The complexities of the paper's Table 2 as experiments.paper.costs has them, and the shapes of
-- its runs.
local lu = require "luaunit"
local methods = require "experiments.paper.costs.methods"

local tests = {}

-- Layers, width, batch, samples, nodes and degree are different primes.
local SHAPE = {L = 3, K = 5, b = 7, s = 11, V = 13, D = 17}

local EXPECTED = {
  {"full", 3 * 13 * 17 * 5 + 3 * 13 * 25, 3 * 13 * 5 + 3 * 25},
  {"graphsage", 7 * 5 * 1331 + 7 * 25 * 121, 7 * 5 * 121 + 3 * 25},
  {"vrgcn", 7 * 17 * 5 * 121 + 7 * 25 * 121, 3 * 13 * 5 + 3 * 25},
  {"fastgcn", 3 * 5 * 121 + 3 * 25 * 11, 3 * 5 * 11 + 3 * 25},
  {"ladies", 3 * 5 * 121 + 3 * 25 * 11, 3 * 5 * 11 + 3 * 25},
}

function tests.test_complexities()
  for i, method in ipairs(methods) do
    lu.assertEquals({method.name, method.time(SHAPE), method.memory(SHAPE)}, EXPECTED[i])
  end
  lu.assertEquals(#methods, #EXPECTED)
  lu.assertEquals(methods[3].history(SHAPE), 2 * 13 * 5)
end

local NODE_WISE = "L=3 K=64 b=64 s=3 V=80000; L 2 3 4; K 32 64 128 256; b 32 64 128 256; "
  .. "s 2 3 4 5; V 20000 40000 80000 160000"
local LAYER_WISE = "L=3 K=64 b=128 s=128 V=80000; L 2 3 4 6; K 32 64 128 256; "
  .. "b 32 64 128 256 512; s 64 128 256 512; V 20000 40000 80000 160000"
local SHAPES = {
  full = "L=3 K=64 b=1 s=1 V=10000; L 2 3 4 6; K 32 64 128 256; V 2500 5000 10000 20000",
  graphsage = NODE_WISE, vrgcn = NODE_WISE, fastgcn = LAYER_WISE, ladies = LAYER_WISE,
}

function tests.test_shapes()
  for _, method in ipairs(methods) do
    local base, parts = {}, {}
    for _, variable in ipairs{"L", "K", "b", "s", "V"} do
      base[#base + 1] = ("%s=%d"):format(variable, method.shapes.base[variable])
      local sweep = method.shapes.sweeps[variable]
      if sweep then parts[#parts + 1] = variable .. " " .. table.concat(sweep, " ") end
    end
    lu.assertEquals(table.concat(base, " ") .. "; " .. table.concat(parts, "; "),
      SHAPES[method.name])
  end
end

return tests
