--- The whole tables that experiments.paper.variance makes from known measurements.
local lu = require "luaunit"
local estimators = require "experiments.paper.variance.estimators"
local tables = require "experiments.paper.variance.tables"

local tests = {}

local by_name = {}
for _, one in ipairs(estimators) do by_name[one.name] = one end

local function point(name, samples, layers, own)
  local record = {error = {2, 4, 6}, bias = {1, 2, 3}, rows = {10, 20, 30}, connected = {8, 8, 8}}
  for key, value in pairs(own or {}) do record[key] = value end
  return {estimator = by_name[name], samples = samples, layers = layers, draws = 8, record = record}
end

-- Errors are over the signal, 4. The bound of LADIES is 0.9 / s, that of FastGCN 45 / (4 s).
local GRAPH = {
  name = "g",
  facts = {nodes = 100, entries = 250, degree = 2.5, norm = 15, touched = 8, phi = 3,
    delta_phi = 0.125, signal = 4, sizes = {
      {size = 1, fastgcn = {2, 4, 6}, ladies = {1, 2, 3}},
      {size = 8, fastgcn = {1, 2, 3}, ladies = {2, 2, 2}},
      {size = 100, fastgcn = {5, 5, 5}, ladies = {4, 4, 4}},
    }},
  points = {
    point("ladies", 4, 1, {error = {0.02, 0.03, 0.04}}), point("ladies", 1, 1),
    point("ladies", 1, 2), point("ladies", 4, 2, {error = {3, 3, 3}, bias = {4, 5, 6}}),
    point("fastgcn", 1, 1, {error = {20, 40, 60}}),
    point("fastgcn", 4, 1, {connected = {1, 1, 1}}),
    point("fastgcn", 1, 2, {error = {2, 4, 7}}),
    point("fastgcn", 4, 2, {error = {2, 2, 3}, bias = {-1, 0, 0}}),
    point("vrgcn", 4, 2, {error = {0, 0, 0}, bias = {0, 0, 0}}),
  },
}
local OPTS = {samples = {1, 4}, estimators = {by_name.vrgcn, by_name.fastgcn, by_name.ladies}}

function tests.test_facts()
  lu.assertEquals(tables.facts{GRAPH}:markdown(), [[
| graph | nodes V | entries of P |    D | ‖P‖²_F / V | V̄(b) |  φ |    Δφ | ‖Z‖²_F / V |
| ----- | ------: | -----------: | ---: | ---------: | ----: | -: | ----: | ---------: |
| g     |     100 |          250 | 2.50 |     0.1500 |     8 |  3 | 0.125 |          4 |]])
end

function tests.test_errors()
  local texts = {}
  for _, pair in ipairs(tables.errors(GRAPH, OPTS)) do
    texts[#texts + 1] = pair[1] .. "\n\n" .. pair[2]:markdown()
  end
  lu.assertEquals(table.concat(texts, "\n\n"), [[
One layer sampled, above an exact H:

|         |   s = 1 |           s = 4 | power of s |
| ------- | ------: | --------------: | ---------: |
| FastGCN | 10 ± 12 |       ? 1 ± 1.2 |          - |
| LADIES  | 1 ± 1.2 | 0.0075 ± 0.0062 |      -3.53 |

Two layers:

|         |      s = 1 |        s = 4 | power of s |
| ------- | ---------: | -----------: | ---------: |
| VR-GCN  |          - |            0 |          - |
| FastGCN | 1.08 ± 1.6 | 0.583 ± 0.36 |      -0.45 |
| LADIES  |    1 ± 1.2 |     0.75 ± 0 |      -0.21 |

Share of bias² in the error of two layers, and the rows that they hold:

|         |    s = 1 |     s = 4 |
| ------- | -------: | --------: |
| VR-GCN  |        - |   0 %, 20 |
| FastGCN | 46 %, 20 |   0 %, 20 |
| LADIES  | 50 %, 20 | 167 %, 20 |]])
end

function tests.test_bounds()
  local bounds, verdict = tables.bounds({GRAPH}, OPTS)
  lu.assertEquals(bounds:markdown(), [[
| error / bound        | s = 1 | s = 4 |
| -------------------- | ----: | ----: |
| g, VR-GCN, 2 layers  |     - |     0 |
| g, FastGCN, 1 layer  |  0.89 |     ? |
| g, FastGCN, 2 layers | 0.096 |  0.21 |
| g, LADIES, 1 layer   |   1.1 | 0.033 |
| g, LADIES, 2 layers  |   1.1 |   3.3 |]])
  lu.assertEquals(verdict.n, 5)
  lu.assertEquals(verdict.not_below, {"g, FastGCN, 1 layer, s = 1 (not separated)",
    "g, FastGCN, 1 layer, s = 4 (too few draws connect)",
    "g, LADIES, 1 layer, s = 1 (not separated)"})
  lu.assertAlmostEquals(verdict.greatest, 1 / 0.9, 1e-12)
end

function tests.test_ratios()
  local ratios, not_below, n = tables.ratios({GRAPH}, OPTS)
  lu.assertEquals(ratios:markdown(), [[
| FastGCN / LADIES |       s = 1 |       s = 4 |
| ---------------- | ----------: | ----------: |
| g, 1 layer       |       10.00 |           ? |
| g, 2 layers      | 1.08 ± 0.27 | 0.78 ± 0.48 |]])
  lu.assertEquals({not_below, n}, {{"g, 1 layer, s = 4 (too few draws connect)",
    "g, 2 layers, s = 1 (not separated)", "g, 2 layers, s = 4 (not separated)"}, 4})
end

function tests.test_sizes()
  local sizes, not_below, n = tables.sizes{GRAPH}
  lu.assertEquals(sizes:markdown(), [[
| FastGCN / LADIES, exact | b = 1 |       b = 8 | b = V |
| ----------------------- | ----: | ----------: | ----: |
| g                       |  2.00 | 1.00 ± 1.24 |  1.25 |]])
  lu.assertEquals({not_below, n}, {{"g, b = 8"}, 2})
end

return tests
