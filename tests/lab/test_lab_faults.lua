--- The laboratory finds faults that are planted in the samplers of the program, one by one, and
-- none in the samplers themselves. tools/sampler_mutants.lua does so with hundreds of them.
local lu = require "luaunit"
local cases = require "tools.sampler_mutants.cases"
local contract = require "ladies.lab.contract"
local judge = require "tools.sampler_mutants.judge"
local load = require "tools.sampler_mutants.load"
local rules = require "tools.sampler_mutants.rules"
local same = require "ladies.lab.same"
local tables = require "ladies.base.tables"
local weights = require "ladies.lab.bias.weights"

local tests = {}

local DATA = judge.data()

-- Returns the laboratory's verdict on the mutant that a rule makes of a sampler, in one of its
-- cases.
local function verdict_of(file, rule, case)
  local original = judge.original(DATA, cases[file][case])
  return judge.mutant(DATA, file, rules.last(rule, load.source(file)), {original})
end

--- Faults are found beside the sampler itself: a wrong probability, a missing debias, a reciprocal,
-- ids off by one, a weight doubled, probabilities of the wrong layer, a reused stream, and others.
function tests.test_planted_faults()
  for _, planted in ipairs{
    {"ladies", "p by sums, not squares", 1}, {"ladies", "debias missing", 2},
    {"ladies", "weights upside down", 1}, {"ladies", "relabelling off by one", 4},
    {"labor", "ids off by one", 1}, {"ladies", "one weight doubled", 2},
    {"ladies", "p of the layer below", 4}, {"graphsage", "one stream for all layers", 1},
    {"clustergcn", "transposed block", 1}, {"ladies", "rows not normalised", 1},
    {"graphsage", "every second mini-batch is the last one", 1},
    {"graphsage", "self nodes missing", 1}, {"fastgcn", "weights squared", 1},
    {"vrgcn", "control's sign", 1}, {"ladies", "one sample less", 1},
  } do
    local file, rule, case = table.unpack(planted)
    local verdict = verdict_of(file, rule, case)
    lu.assertTrue(verdict.changes, rule)
    lu.assertNil(verdict.raised, rule)
    lu.assertEquals(verdict.draws, same.DRAWS, ("%s of %s is not found"):format(rule, file))
    lu.assertStrMatches(verdict.same, "mutant.* is not .*: .* a mini%-batch, .*")
  end
end

--- The laboratory finds faults that are no matter of chance in a sampler by itself, without any
-- other to set it beside.
function tests.test_planted_faults_alone()
  for _, planted in ipairs{
    {"ladies", "relabelling off by one", 4, "contract.edges"},
    {"ladies", "one stream for all layers", 1, "contract.streams"},
    {"graphsage", "numbers without a rng", 1, "contract.same_stream"},
    {"labor", "every second mini-batch is the last one", 1, "contract.order"},
    {"graphsage", "transposed P", 1, "contract.transposed"},
  } do
    local file, rule, case, key = table.unpack(planted)
    case = cases[file][case]
    load.install(file, rules.last(rule, load.source(file)), case.method)
    local _, faults = contract.examine(judge.subject(DATA, "mutant", case),
      judge.context(DATA, case, 1))
    lu.assertEquals(faults[1] and faults[1].key, key, rule)
  end
end

--- A change of a sampler's source that changes no draw is not taken for a fault.
function tests.test_no_fault()
  local verdict = verdict_of("graphsage", "own loops always", 1)
  lu.assertFalse(verdict.changes)
  lu.assertNil(verdict.same)
end

--- Every sampler is the same as itself, drawn with other random numbers.
function tests.test_no_false_alarms()
  for seed, file in ipairs(tables.sorted_keys(cases)) do
    local case = cases[file][1]
    local subject = judge.subject(DATA, case.method, case)
    local _, faults = same.examine(subject, subject, judge.context(DATA, case, seed),
      {order = true, draws = 32, groups = 8})
    lu.assertEquals(faults, {}, file)
  end
end

--- Samplers that compute gradients while they draw, and those with seeds of their own, have no
-- weights that could be looked at, and say so.
function tests.test_weights_of_others()
  for _, file in ipairs{"mvs", "graphsaint"} do
    local case = cases[file][1]
    local shared, subject = judge.context(DATA, case, 1), judge.subject(DATA, file, case)
    local known = shared:exact(shared:propagation_of(subject))
    lu.assertNil(weights.examine({context = shared, sampler = shared:sampler(subject),
      known = known}, 1, 4, false))
  end
end

return tests
